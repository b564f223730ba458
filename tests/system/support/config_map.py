"""A configuration as Kubernetes mounts a ConfigMap: stint.yaml -> ..data/stint.yaml, ..data -> a folder of its own
for each version."""

import shutil
from pathlib import Path

from .stint import Stint


class ConfigMap:
    """The mount at a Stint that is not started yet, with what its file says."""

    def __init__(self, stint: Stint):
        self.folder = stint.folder
        self._versions = 0
        text = stint.file.read_text(encoding="utf-8")
        stint.file.unlink()
        stint.file.symlink_to("..data/stint.yaml")
        self.swap(text)

    def swap(self, text: str) -> Path:
        """A new folder, a link to it, and the end of the old one; gives the new one."""
        link = self.folder / "..data"
        old = link.resolve() if link.exists() else None
        self._versions += 1
        new = self.folder / f"..{self._versions}"
        new.mkdir()
        (new / "stint.yaml").write_text(text, encoding="utf-8")
        temporary = self.folder / "..data_tmp"
        temporary.symlink_to(new.name)
        temporary.rename(link)
        if old:
            shutil.rmtree(old)
        return new
