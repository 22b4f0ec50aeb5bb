"""The house's own authority, and the certificate by which its servers are known: as strict clients want them.

Whoever has an authority's key can pretend to be the house's server: it stays with the operator.
"""

import ipaddress
import re
from collections.abc import Sequence
from datetime import datetime, timedelta
from typing import Final, NamedTuple

from cryptography import x509
from cryptography.hazmat.primitives.asymmetric.ec import SECP256R1, EllipticCurvePrivateKey, generate_private_key
from cryptography.hazmat.primitives.hashes import SHA256
from cryptography.hazmat.primitives.serialization import (
    Encoding,
    NoEncryption,
    PrivateFormat,
    load_pem_private_key,
)
from cryptography.x509.oid import ExtendedKeyUsageOID, NameOID

AUTHORITY_DAYS: Final = 3650
SERVER_DAYS: Final = 397
"""About as long as the rest of the world takes a server's certificate for good."""
_HOST_MAX: Final = 253
_is_host: Final = re.compile(r"(\*\.)?[A-Za-z0-9_-]+(\.[A-Za-z0-9_-]+)*\.?").fullmatch
_SKEW: Final = timedelta(minutes=5)
"""Clocks differ: a new certificate holds a little before now."""


class NoCertificate(ValueError):
    """What should be a certificate, a key, or a host's name is none; the message says which."""


class Pair(NamedTuple):
    """A certificate and the key to it, as PEM."""

    certificate: bytes
    key: bytes

    def __repr__(self) -> str:
        """Without what nobody else may know."""
        return f"Pair(certificate={self.certificate!r})"


def authority(now: datetime) -> Pair:
    """A new authority of a house."""
    key = generate_private_key(SECP256R1())
    name = x509.Name([x509.NameAttribute(NameOID.COMMON_NAME, "Croupier house authority")])
    builder = (
        _of(name, name, key, now, AUTHORITY_DAYS)
        .add_extension(x509.BasicConstraints(ca=True, path_length=0), critical=True)
        .add_extension(_usage(signs_certificates=True), critical=True)
        .add_extension(x509.SubjectKeyIdentifier.from_public_key(key.public_key()), critical=False)
    )
    return _pair(builder.sign(key, SHA256()), key)


def server(by: Pair, hosts: Sequence[str], now: datetime) -> Pair:
    """A certificate for servers that are reached under these names and addresses. Raises `NoCertificate`."""
    known = names(hosts)
    issuer, issuer_key = _loaded(by)
    key = generate_private_key(SECP256R1())
    name = x509.Name([x509.NameAttribute(NameOID.COMMON_NAME, hosts[0][:64])])
    builder = (
        _of(name, issuer.subject, key, now, SERVER_DAYS)
        .add_extension(x509.BasicConstraints(ca=False, path_length=None), critical=True)
        .add_extension(_usage(signs_certificates=False), critical=True)
        # Servers of a cluster show it to each other from both ends.
        .add_extension(
            x509.ExtendedKeyUsage([ExtendedKeyUsageOID.SERVER_AUTH, ExtendedKeyUsageOID.CLIENT_AUTH]), critical=False
        )
        .add_extension(x509.SubjectAlternativeName(known), critical=False)
        .add_extension(x509.SubjectKeyIdentifier.from_public_key(key.public_key()), critical=False)
        .add_extension(x509.AuthorityKeyIdentifier.from_issuer_public_key(issuer_key.public_key()), critical=False)
    )
    return _pair(builder.sign(issuer_key, SHA256()), key)


def names(hosts: Sequence[str]) -> list[x509.GeneralName]:
    """How a certificate names these hosts. Raises `NoCertificate`."""
    return [_general(host) for host in hosts]


def hosts_of(certificate: bytes) -> tuple[str, ...]:
    """The names and addresses of a server's certificate. Raises `NoCertificate`."""
    found = _certificate(certificate).extensions.get_extension_for_class(x509.SubjectAlternativeName).value
    return tuple(str(each.value) for each in found)


def ends(certificate: bytes) -> datetime:
    """When a certificate expires. Raises `NoCertificate`."""
    return _certificate(certificate).not_valid_after_utc


def _of(
    subject: x509.Name, issuer: x509.Name, key: EllipticCurvePrivateKey, now: datetime, days: int
) -> x509.CertificateBuilder:
    return (
        x509.CertificateBuilder()
        .subject_name(subject)
        .issuer_name(issuer)
        .public_key(key.public_key())
        .serial_number(x509.random_serial_number())
        .not_valid_before(now - _SKEW)
        .not_valid_after(now + timedelta(days=days))
    )


def _usage(*, signs_certificates: bool) -> x509.KeyUsage:
    return x509.KeyUsage(
        digital_signature=True,
        content_commitment=False,
        key_encipherment=False,
        data_encipherment=False,
        key_agreement=False,
        key_cert_sign=signs_certificates,
        crl_sign=signs_certificates,
        encipher_only=False,
        decipher_only=False,
    )


def _general(host: str) -> x509.GeneralName:
    try:
        return x509.IPAddress(ipaddress.ip_address(host))
    except ValueError:
        pass
    if len(host) > _HOST_MAX or _is_host(host) is None:
        raise NoCertificate(f"{host!r} is no name of a host: letters, digits, -, _ and dots are, or an IP address")
    return x509.DNSName(host)


def _loaded(pair: Pair) -> tuple[x509.Certificate, EllipticCurvePrivateKey]:
    try:
        key = load_pem_private_key(pair.key, password=None)
    except ValueError:
        raise NoCertificate("the authority's key is none") from None
    if not isinstance(key, EllipticCurvePrivateKey):
        raise NoCertificate("the authority's key is not one of ours")
    return _certificate(pair.certificate), key


def _certificate(text: bytes) -> x509.Certificate:
    try:
        return x509.load_pem_x509_certificate(text)
    except ValueError:
        raise NoCertificate("there is no certificate in it") from None


def _pair(certificate: x509.Certificate, key: EllipticCurvePrivateKey) -> Pair:
    return Pair(
        certificate.public_bytes(Encoding.PEM),
        key.private_bytes(Encoding.PEM, PrivateFormat.PKCS8, NoEncryption()),
    )
