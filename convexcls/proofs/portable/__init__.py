"""Certificates as files that anyone can check, with nothing but the data.

A file (schema ``convexcls-certificate/2``) names the model with its parameters, the digest of the data, the level, the
claim, and the numbers that prove it. ``verify`` trusts none of them: it declares the problem anew on the data that it
is given and works out what the numbers prove. A file may come from anywhere, so every name, type and length in it is
checked before anything is computed. ``verifier/README.md`` states the format, and how to check it without this package.
It may import models and everything in ``proofs/``.
"""

from convexcls.proofs.portable.digest import data_digest
from convexcls.proofs.portable.numbers import CertificateError
from convexcls.proofs.portable.parsing import Parsed, parse
from convexcls.proofs.portable.verification import Verification, verify
from convexcls.proofs.portable.writing import certificate_dict, certificate_json

__all__ = [
    "CertificateError",
    "Parsed",
    "Verification",
    "certificate_dict",
    "certificate_json",
    "data_digest",
    "parse",
    "verify",
]
