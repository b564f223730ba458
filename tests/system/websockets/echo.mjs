// A WebSocket server that sends every message back. Prints its port.
import { WebSocketServer } from "ws";

const server = new WebSocketServer({ host: "127.0.0.1", port: 0, maxPayload: 1 << 28 }, () =>
  console.log(server.address().port),
);
server.on("connection", (socket) => {
  socket.on("message", (data, binary) => socket.send(data, { binary }));
});
process.stdin.on("end", () => process.exit(0)).resume();
