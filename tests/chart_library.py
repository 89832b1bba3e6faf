"""Update the chart library that pages include: `python chart_library.py [VERSION]`.

It is one file of Plotly (https://github.com/plotly/plotly.js, MIT), the distribution with only
lines, points and bars: a third of the whole. It is stored compressed, with its license and a record
of its origin.
"""

from __future__ import annotations

import base64
import gzip
import hashlib
import io
import json
import sys
import tarfile
import urllib.request
from pathlib import Path

NAME = "plotly.js-basic-dist-min"
REGISTRY = f"https://registry.npmjs.org/{NAME}"
LIBRARY = Path(__file__).parents[1] / "python" / "selfclock" / "report" / "library"


def fetched(url: str) -> bytes:
    with urllib.request.urlopen(url, timeout=60) as answer:  # noqa: S310  the registry's
        data: bytes = answer.read()
    return data


def main() -> None:
    known = json.loads(fetched(REGISTRY))
    version = sys.argv[1] if len(sys.argv) > 1 else known["dist-tags"]["latest"]
    source = known["versions"][version]["dist"]
    packed = fetched(source["tarball"])
    integrity = "sha512-" + base64.b64encode(hashlib.sha512(packed).digest()).decode()
    if integrity != source["integrity"]:
        sys.exit(f"{source['tarball']} is not what the registry says")
    with tarfile.open(fileobj=io.BytesIO(packed)) as archive:
        held = {name: archive.extractfile(f"package/{name}") for name in ("plotly-basic.min.js", "LICENSE")}
        script, text = (file.read() for file in held.values() if file is not None)
    (LIBRARY / "plotly-basic.min.js.gz").write_bytes(gzip.compress(script, 9, mtime=0))
    (LIBRARY / "LICENSE").write_bytes(text)
    record = {"package": NAME, "version": version, "license": "MIT", "source": source["tarball"],
              "integrity": integrity, "sha256": hashlib.sha256(script).hexdigest()}  # fmt: skip
    (LIBRARY / "library.json").write_text(json.dumps(record, indent=2) + "\n", encoding="utf-8")
    print(f"{NAME} {version}: {len(script):,} bytes")


if __name__ == "__main__":
    main()
