"""TLS by PEM files, checked before anything listens: gRPC itself only says that it failed."""

import ssl
from dataclasses import dataclass
from pathlib import Path
from typing import NoReturn

import grpc

_CERTIFICATE = b"-----BEGIN CERTIFICATE-----"
_PRIVATE_KEY = b"PRIVATE KEY-----"


class TlsError(ValueError):
    """A file is not what TLS needs; the message names it and says why."""


@dataclass(frozen=True, slots=True)
class TlsFiles:
    """PEM files: the server's certificates (its own first), its key, and who signs clients."""

    cert: Path
    key: Path
    client_ca: Path | None = None
    """With it, only clients that show a certificate signed by one of these are let in."""


def files_of_options(
    cert: Path | None, key: Path | None, client_ca: Path | None
) -> TlsFiles | None:
    """What `--tls-cert`, `--tls-key` and `--tls-client-ca` ask for. Raises TlsError."""
    if cert is None or key is None:
        if cert is not None or key is not None:
            given, missing = ("--tls-cert", "--tls-key")[:: 1 if key is None else -1]
            raise TlsError(f"{given} is given without {missing}: TLS needs both")
        if client_ca is not None:
            raise TlsError("--tls-client-ca is given without --tls-cert and --tls-key")
        return None
    return TlsFiles(cert, key, client_ca)


@dataclass(frozen=True, slots=True)
class Tls:
    """Files that have been read and fit together."""

    credentials: grpc.ServerCredentials
    not_after: str
    """When the certificate expires, as OpenSSL writes it: `Dec  2 04:20:44 2026 GMT`."""


def read_tls(files: TlsFiles) -> Tls:
    """Read and check the files. Raises TlsError."""
    cert = _read(files.cert, _CERTIFICATE, "certificate (BEGIN CERTIFICATE)")
    key = _read(files.key, _PRIVATE_KEY, "private key (BEGIN PRIVATE KEY)")
    if b"ENCRYPTED" in key:
        raise TlsError(f"{files.key} is encrypted: allowed is a key without a passphrase")
    context = _server_context(files)
    clients = None
    if files.client_ca is not None:
        clients = _read(files.client_ca, _CERTIFICATE, "certificate (BEGIN CERTIFICATE)")
        try:
            ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER).load_verify_locations(files.client_ca)
        except ssl.SSLError as error:
            raise TlsError(f"{files.client_ca} cannot be used: {_reason(error)}") from error
    return Tls(
        grpc.ssl_server_credentials(
            [(key, cert)], clients, require_client_auth=clients is not None
        ),
        _expiry(files.cert, context),
    )


def _read(path: Path, marker: bytes, wanted: str) -> bytes:
    try:
        # A pipe that nobody writes to would hold the start up for ever.
        if path.exists() and not path.is_file():
            raise TlsError(f"{path} is no file: allowed is a PEM file")
        content = path.read_bytes()
    except OSError as error:
        raise TlsError(f"{path} cannot be read: {error.strerror}") from error
    if marker not in content:
        raise TlsError(f"{path} is not a PEM file with a {wanted}")
    return content


def _server_context(files: TlsFiles) -> ssl.SSLContext:
    context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)

    def no_passphrase() -> NoReturn:
        # Without this OpenSSL would ask on the terminal.
        raise TlsError(f"{files.key} is encrypted: allowed is a key without a passphrase")

    try:
        context.load_cert_chain(files.cert, files.key, no_passphrase)
    except ssl.SSLError as error:
        if error.reason in ("KEY_VALUES_MISMATCH", "KEY_TYPE_MISMATCH"):
            raise TlsError(f"{files.key} is not the key of {files.cert}") from error
        raise TlsError(f"{files.cert} and {files.key} cannot be used: {_reason(error)}") from error
    return context


def _expiry(cert: Path, server_context: ssl.SSLContext) -> str:
    """When the certificate expires. Raises TlsError if it serves no TLS server today.

    Found by a handshake in memory with a client that trusts just this certificate: the standard
    library has no other way to read one.
    """
    client_context = ssl.SSLContext(ssl.PROTOCOL_TLS_CLIENT)
    client_context.check_hostname = False
    client_context.verify_flags |= ssl.VERIFY_X509_PARTIAL_CHAIN
    to_server, to_client = ssl.MemoryBIO(), ssl.MemoryBIO()
    try:
        client_context.load_verify_locations(cert)
        client = client_context.wrap_bio(to_client, to_server)
        server = server_context.wrap_bio(to_server, to_client, server_side=True)
        for side in (client, server, client):
            try:
                side.do_handshake()
            except ssl.SSLWantReadError:
                continue
        found = client.getpeercert() or {}
    except ssl.SSLCertVerificationError as error:
        raise TlsError(f"{cert} cannot be used: {error.verify_message}") from error
    except (ssl.SSLError, ValueError) as error:
        raise TlsError(f"{cert} cannot be used: {_reason(error)}") from error
    return str(found.get("notAfter", ""))


def _reason(error: Exception) -> str:
    if not isinstance(error, ssl.SSLError):
        return str(error)
    return error.reason.replace("_", " ").lower() if error.reason else "it is damaged"
