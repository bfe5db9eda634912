"""Exact certificates as files for the proof assistant Coq: the data, a theorem in plain terms, a proof by computation.

``library.v`` says what is claimed and proves, once and for all points, that integers which pass its checks prove it;
``writing`` puts data and numbers beside it. Nothing is trusted but Coq's kernel and that the data are those meant.
"""

from convexcls.proofs.coq.writing import certificate_coq, library_text, separability_coq

__all__ = ["certificate_coq", "library_text", "separability_coq"]
