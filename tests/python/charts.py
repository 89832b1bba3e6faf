"""Reads the contents of a page's charts."""

from __future__ import annotations

import base64
import gzip
import json
import re
import struct
from typing import Any

import numpy as np


def unpacked_text(packed: str) -> str:
    """Return a text embedded in a page."""
    return gzip.decompress(base64.b64decode(packed)).decode()


def unpacked_document(packed: str) -> Any:  # noqa: ANN401
    """Return a document embedded in a page, its arrays as lists."""
    data = gzip.decompress(base64.b64decode(packed))
    (length,) = struct.unpack_from("<I", data)
    arrays = data[4 + length :]

    def read(found: dict[str, Any]) -> Any:  # noqa: ANN401
        if found.keys() != {"array", "length", "bytes"}:
            return found
        size = found["bytes"]
        planes = np.frombuffer(arrays, np.uint8, found["length"] * size, found["array"]).reshape(size, -1)
        return np.frombuffer(planes.T.tobytes(), f"<f{size}").tolist()

    return json.loads(data[4 : 4 + length], object_hook=read)


def charts(page: str) -> list[Any]:
    """Return all charts of a page."""
    return [
        unpacked_document(packed) for packed in re.findall(r'<script type="application/gzip">([^<]*)</script>', page)
    ]
