"""Where a bot from outside may dial in: the address and its TLS files, checked before use."""

from pathlib import Path

import grpc

from referee.service.addresses import AddressError, check_address, is_local
from referee.service.tls import TlsError, TlsFiles, read_tls
from tournament.errors import UsageError


def credentials_for(
    address: str, *, cert: Path | None, key: Path | None, insecure: bool
) -> grpc.ServerCredentials | None:
    """Return what to serve TLS with at an address; None is plain TCP, or a unix socket.

    Raises UsageError: for what is no address, for files that do not fit, and for plain TCP that
    others than this machine can reach, unless that is wanted.
    """
    try:
        check_address(address)
        if (cert is None) != (key is None):
            given, missing = ("--tls-cert", "--tls-key")[:: 1 if key is None else -1]
            raise UsageError(f"{given} is given without {missing}: TLS needs both")
        if cert is not None and key is not None:
            return read_tls(TlsFiles(cert, key)).credentials
        if not is_local(address) and not insecure:
            raise UsageError(
                f"{address} can be reached from outside, and plain TCP hides neither hands nor"
                " tokens: listen on 127.0.0.1, give --tls-cert and --tls-key, or say --insecure"
            )
    except (AddressError, TlsError) as error:
        raise UsageError(str(error)) from error
    return None
