"""From what people submit to the one device text: extraction, includes, the single preprocessing, slicing."""

from verifier.source.device_text import Conditional, DeviceText, SourceText, Submission
from verifier.source.errors import NoKernel, SourceError
from verifier.source.load import load

__all__ = ["Conditional", "DeviceText", "NoKernel", "SourceError", "SourceText", "Submission", "load"]
