"""Certificates for the tests, made by the openssl command."""

import ssl
import subprocess
from datetime import datetime, timedelta, timezone
from pathlib import Path

_CONFIG = """\
[ca]
default_ca = own
[own]
database = {folder}/index.txt
new_certs_dir = {folder}
rand_serial = yes
unique_subject = no
default_md = sha256
default_days = 30
default_crl_days = 30
policy = any
[any]
commonName = supplied
[authority]
basicConstraints = critical, CA:TRUE
keyUsage = critical, keyCertSign, cRLSign
"""


def openssl(*arguments, **more) -> str:
    done = subprocess.run(["openssl", *map(str, arguments)], capture_output=True, text=True, timeout=60, **more)
    if done.returncode != 0:
        raise AssertionError(f"openssl {arguments[0]}: {done.stderr}")
    return done.stdout


def _date(days: float) -> str:
    return (datetime.now(timezone.utc) + timedelta(days=days)).strftime("%Y%m%d%H%M%SZ")


class Pair:
    """The files of a certificate and of its key."""

    def __init__(self, certificate: Path, key: Path):
        self.certificate = certificate
        self.key = key

    def tls(self, **more) -> dict:
        """As a listener's configuration has it."""
        return {"certificate": str(self.certificate), "key": str(self.key), **more}

    def take_over(self, other: "Pair") -> None:
        """Replaces both files, as who renews certificates does."""
        for mine, new in ((self.certificate, other.certificate), (self.key, other.key)):
            aside = mine.with_suffix(".new")
            aside.write_bytes(new.read_bytes())
            aside.rename(mine)

    def serial(self) -> int:
        return int(openssl("x509", "-noout", "-serial", "-in", self.certificate).split("=")[1], 16)


class Authority:
    def __init__(self, folder: Path, name: str = "Test authority"):
        self.folder = folder
        folder.mkdir(parents=True, exist_ok=True)
        self.certificate = folder / "ca.pem"
        self._key = folder / "ca.key"
        self._config = folder / "openssl.cnf"
        self._config.write_text(_CONFIG.format(folder=folder))
        (folder / "index.txt").touch()
        openssl("req", "-x509", "-config", self._config, "-extensions", "authority", *_key_options(self._key),
                "-subj", f"/CN={name}", "-days", 30, "-out", self.certificate)

    def issue(self, *names: str, file: str | None = None, begins=-1, ends=30, rsa=False,
              extensions="") -> Pair:
        """For these names, or addresses written IP:…; begins and ends are in days from now. extensions: more
        lines of them."""
        file = file or names[0].removeprefix("IP:").replace("*", "any")
        pair = Pair(self.folder / f"{file}.pem", self.folder / f"{file}.key")
        request = self.folder / f"{file}.csr"
        all_of_them = self.folder / f"{file}.ext"
        listed = ",".join(name if name.startswith("IP:") else f"DNS:{name}" for name in names)
        all_of_them.write_text(f"subjectAltName = {listed}\nbasicConstraints = CA:FALSE\n{extensions}")
        openssl("req", "-new", "-config", self._config, *_key_options(pair.key, rsa), "-subj", f"/CN={names[0]}",
                "-out", request)
        openssl("ca", "-batch", "-notext", *self._self(), "-extfile", all_of_them, "-startdate", _date(begins),
                "-enddate", _date(ends), "-in", request, "-out", pair.certificate)
        return pair

    def revoke(self, *pairs: Pair) -> str:
        """A list with all that were ever revoked, in PEM."""
        for pair in pairs:
            openssl("ca", *self._self(), "-revoke", pair.certificate)
        return openssl("ca", *self._self(), "-gencrl")

    def context(self, client: Pair | None = None) -> ssl.SSLContext:
        """Believes this authority alone."""
        context = ssl.create_default_context(cafile=str(self.certificate))
        if client:
            context.load_cert_chain(client.certificate, client.key)
        return context

    def _self(self) -> list:
        return ["-config", self._config, "-cert", self.certificate, "-keyfile", self._key]


def self_signed(folder: Path, name: str) -> Pair:
    pair = Pair(folder / f"{name}-own.pem", folder / f"{name}-own.key")
    openssl("req", "-x509", *_key_options(pair.key), "-subj", f"/CN={name}", "-addext",
            f"subjectAltName=DNS:{name}", "-days", 30, "-out", pair.certificate)
    return pair


def _key_options(file: Path, rsa=False) -> list:
    kind = ["-newkey", "rsa:2048"] if rsa else ["-newkey", "ec", "-pkeyopt", "ec_paramgen_curve:P-256"]
    return [*kind, "-nodes", "-keyout", file]
