"""The bill of materials, in CycloneDX's JSON (https://cyclonedx.org/docs/1.6/json/)."""

import json
import uuid

from . import archive


def write(target, version, jars, crates):
    """Names the jars with their checksums and everything that is linked into the native library."""
    product = _purl("generic", "hiatus", version)
    own = [{"type": "library", "bom-ref": jar.name, "name": jar.name, "version": version,
            "hashes": [{"alg": "SHA-256", "content": archive.sha256(jar)}], "licenses": [{"license": {"id": "Apache-2.0"}}]} for jar in jars]
    linked = [{"type": "library", "bom-ref": (purl := _purl("cargo", crate.name, crate.version)), "name": crate.name,
               "version": crate.version, "purl": purl, "licenses": [{"expression": crate.licence}],
               "externalReferences": [{"type": "distribution", "url": crate.source}]} for crate in crates]
    references = {part["bom-ref"]: [] for part in own + linked}
    (scheduler,) = (jar.name for jar in jars if "scheduler" in jar.name)
    references[scheduler] = [part["bom-ref"] for part in linked]
    references[product] = [part["bom-ref"] for part in own]
    document = {
        "bomFormat": "CycloneDX",
        "specVersion": "1.6",
        "version": 1,
        "metadata": {"component": {"type": "application", "bom-ref": product, "name": "hiatus", "version": version, "purl": product,
                                   "licenses": [{"license": {"id": "Apache-2.0"}}]}},
        "components": own + linked,
        "dependencies": [{"ref": name, "dependsOn": needs} for name, needs in sorted(references.items())],
    }
    # The same contents have the same number.
    number = uuid.uuid5(uuid.NAMESPACE_URL, json.dumps(document, sort_keys=True))
    target.write_text(json.dumps({**document, "serialNumber": f"urn:uuid:{number}"}, indent=1, sort_keys=True) + "\n")


def _purl(kind, name, version):
    return f"pkg:{kind}/{name}@{version}"
