"""Certificates as openssl(1) makes them, for listeners and upstreams."""

import subprocess
from pathlib import Path


def _openssl(*arguments, folder: Path) -> None:
    done = subprocess.run(
        ["openssl", *map(str, arguments)], cwd=folder, capture_output=True, text=True, check=False)
    if done.returncode != 0:
        raise AssertionError(f"openssl {arguments[0]}: {done.stderr}")


class Pair:
    """A certificate and its key: two PEM files."""

    def __init__(self, certificate: Path, key: Path):
        self.certificate = certificate
        self.key = key

    def yaml(self) -> dict:
        return {"certificate": str(self.certificate), "key": str(self.key)}


class Authority:
    """Signs what is asked for; `file` is its own certificate. Everything lies in folder."""

    def __init__(self, folder: Path, name: str = "Stint test authority"):
        folder.mkdir(parents=True, exist_ok=True)
        self.folder = folder
        self.file = folder / "ca.pem"
        self._key = folder / "ca.key"
        (folder / "index").touch()
        (folder / "serial").write_text("1000\n", encoding="ascii")
        (folder / "crlnumber").write_text("01\n", encoding="ascii")
        (folder / "ca.conf").write_text(
            "[ca]\ndefault_ca = own\n"
            "[own]\ndatabase = index\nserial = serial\ncrlnumber = crlnumber\n"
            "certificate = ca.pem\nprivate_key = ca.key\nnew_certs_dir = .\n"
            "default_md = sha256\npolicy = any\nunique_subject = no\ndefault_crl_days = 30\n"
            "copy_extensions = copy\n"
            "[any]\ncommonName = supplied\norganizationName = optional\n",
            encoding="ascii")
        _openssl("req", "-x509", "-newkey", "ec", "-pkeyopt", "ec_paramgen_curve:P-256", "-nodes",
                 "-subj", f"/CN={name}", "-days", 30, "-addext", "basicConstraints=critical,CA:TRUE",
                 "-addext", "keyUsage=critical,keyCertSign,cRLSign",
                 "-keyout", self._key, "-out", self.file, folder=folder)

    def issue(self, name: str, *, names=None, subject=None, start=None, end=None, rsa=False) -> Pair:
        """names: what it is for (default: `name`, or the loopback addresses for "localhost");
        start, end: YYYYMMDDHHMMSSZ."""
        if names is None:
            names = ["DNS:localhost", "IP:127.0.0.1"] if name == "localhost" else [f"DNS:{name}"]
        stem = f"{len(list(self.folder.glob('*.csr')))}-{name.replace('*', 'any')}"
        pair = Pair(self.folder / f"{stem}.pem", self.folder / f"{stem}.key")
        request = self.folder / f"{stem}.csr"
        kind = ["rsa:2048"] if rsa else ["ec", "-pkeyopt", "ec_paramgen_curve:P-256"]
        extra = ["-addext", "subjectAltName=" + ",".join(names)] if names else []
        _openssl("req", "-new", "-newkey", *kind, "-nodes", "-subj", subject or f"/CN={name}",
                 *extra, "-keyout", pair.key, "-out", request, folder=self.folder)
        dates = ["-startdate", start or "20260101000000Z", "-enddate", end or "20990101000000Z"]
        _openssl("ca", "-config", "ca.conf", "-batch", "-notext", *dates,
                 "-in", request, "-out", pair.certificate, folder=self.folder)
        return pair

    def revoke(self, pair: Pair) -> None:
        _openssl("ca", "-config", "ca.conf", "-revoke", pair.certificate, folder=self.folder)

    def revocations(self) -> Path:
        """The list as of now."""
        file = self.folder / "crl.pem"
        _openssl("ca", "-config", "ca.conf", "-gencrl", "-out", file, folder=self.folder)
        return file
