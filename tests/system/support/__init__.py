"""What the system tests share: processes, raw sockets, and a test case that leaves nothing behind."""
