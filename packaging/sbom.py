# SPDX-License-Identifier: Apache-2.0
"""Writes a release's bill of materials, a document of SPDX 2.3 in JSON: what it holds, and what that is built with.

Dependencies are those that the repository names: by Maven in spinal/, by PyPI in scripts/requirements, by Debian in
scripts/setup and packaging/debian/control. What those depend on in turn is not in it.
"""

from __future__ import annotations

import argparse
import hashlib
import json
import re
import sys
from dataclasses import dataclass
from datetime import UTC, datetime
from pathlib import Path

import history
import licences

#: The folders whose files a package is made from.
PARTS = {
    "meridian-dkms": ("host-driver/linux", "host-driver/qdma/*.[ch]", "host-driver/include"),
    "meridian-dpdk": ("host-driver/dpdk", "host-driver/qdma/*.[ch]", "host-driver/include"),
    "libmeridian1": ("host-driver/library/*.[ch]", "host-driver/qdma/*.[ch]", "host-driver/include/meridian_regs.h"),
    "libmeridian-dev": ("host-driver/library/*.h", "host-driver/library/libmeridian.3", "host-driver/library/examples"),
    "python3-meridian-library": ("host-driver/library/python",),
    "meridian-tools": ("host-driver/tools", "host-driver/include/meridian_regs.h", "vivado/boards/*/board.tcl"),
}
MAVEN = re.compile(r'"([\w.]+)"\s+(%%?)\s+"([\w.-]+)"\s+%\s+(?:"([\w.]+)"|(\w+))(\s+% Test)?')
REQUIREMENT = re.compile(r"^([A-Za-z0-9_.-]+)==(\S+)", re.MULTILINE)
DEBIAN = re.compile(r"packages=\(([^)]*)\)")


@dataclass(frozen=True, order=True)
class Dependency:
    """kind: of a package URL, as maven, pypi, deb; use: of SPDX's relationships."""

    kind: str
    name: str
    version: str
    use: str


def of_maven(root: Path) -> set[Dependency]:
    build, plugins = ((root / "spinal" / name).read_text() for name in ("build.sbt", "project/plugins.sbt"))
    values = dict(re.findall(r'val (\w+) = "([^"]+)"', build))
    scala = re.findall(r'scalaVersion := "([^"]+)"', build)[0]
    sbt = re.findall(r"^sbt.version *= *(\S+)", (root / "spinal/project/build.properties").read_text(), re.MULTILINE)[0]
    found = {
        Dependency("maven", "org.scala-lang/scala-library", scala, "BUILD_DEPENDENCY_OF"),
        Dependency("maven", "org.scala-sbt/sbt-launch", sbt, "BUILD_TOOL_OF"),
    }
    for text, use in ((build, "BUILD_DEPENDENCY_OF"), (plugins, "BUILD_TOOL_OF")):
        for group, cross, name, version, variable, test in MAVEN.findall(text):
            suffix = f"_{'.'.join(scala.split('.')[:2])}" if cross == "%%" else ""
            role = "TEST_DEPENDENCY_OF" if test else use
            found.add(Dependency("maven", f"{group}/{name}{suffix}", version or values[variable], role))
    return found


def of_pypi(root: Path) -> set[Dependency]:
    return {
        Dependency("pypi", name.lower().replace("_", "-"), version, "DEV_TOOL_OF")
        for file in (root / "scripts" / "requirements").glob("*.txt")
        for name, version in REQUIREMENT.findall(file.read_text())
    }


def of_debian(root: Path) -> set[Dependency]:
    """By name: the version is that of the Debian release."""
    control = (root / "packaging" / "debian" / "control").read_text()
    needed = re.findall(r"^Build-Depends:((?:\n .*)+)", control, re.MULTILINE)[0]
    # Of DPDK's source are the headers that libdpdk-dev does not have.
    build = {"dpdk", *(re.split(r"[ (]", each.strip())[0] for each in needed.split(",") if each.strip())}
    tools = {name for words in DEBIAN.findall((root / "scripts" / "setup").read_text()) for name in words.split()}
    return {Dependency("deb", f"debian/{name}", "", "BUILD_DEPENDENCY_OF") for name in build} | {
        Dependency("deb", f"debian/{name}", "", "DEV_TOOL_OF") for name in tools - build
    }


def identifier(*words: str) -> str:
    return "SPDXRef-" + re.sub(r"[^A-Za-z0-9.-]+", "-", "-".join(word for word in words if word))


def package(name: str, version: str, licence: str, **more: object) -> dict[str, object]:
    said = {"versionInfo": version} if version else {}
    return {
        "name": name, **said, "SPDXID": more.pop("SPDXID", identifier("Package", name)), "downloadLocation": "NOASSERTION",
        "filesAnalyzed": False, "licenseConcluded": "NOASSERTION", "licenseDeclared": licence, "copyrightText": "NOASSERTION",
        **more,
    }  # fmt: skip


def held(file: Path, name: str, version: str, licence: str) -> dict[str, object]:
    """A file of the release that is a package."""
    try:
        content = file.read_bytes()
    except OSError as error:
        raise history.Refused(f"{file} cannot be read ({error.strerror}): build the release first") from None
    return package(
        name, version, licence, packageFileName=file.name, supplier="Organization: Meridian maintainers",
        SPDXID=identifier("Package", file.name),
        checksums=[{"algorithm": "SHA256", "checksumValue": hashlib.sha256(content).hexdigest()}],
    )  # fmt: skip


def document(root: Path, version: str, time: int, archive: Path, packages: list[Path]) -> dict[str, object]:
    main = held(archive, "meridian", version, licences.together(root))
    made = [main]
    relations = [("SPDXRef-DOCUMENT", "DESCRIBES", main["SPDXID"])]
    for file in packages:
        name, _, rest = file.name.partition("_")
        folders = PARTS.get(name.removesuffix("-dbgsym"))
        if not folders or not rest:
            raise history.Refused(f"{file.name} is no package of this repository, as NAME_VERSION_ARCHITECTURE.deb")
        made.append(held(file, name, rest.partition("_")[0], licences.together(root, *folders)))
        relations += [
            ("SPDXRef-DOCUMENT", "DESCRIBES", made[-1]["SPDXID"]),
            (made[-1]["SPDXID"], "GENERATED_FROM", main["SPDXID"]),
        ]
    for one in sorted(of_maven(root) | of_pypi(root) | of_debian(root)):
        address = f"pkg:{one.kind}/{one.name}{'@' + one.version if one.version else ''}"
        reference = {"referenceCategory": "PACKAGE-MANAGER", "referenceType": "purl", "referenceLocator": address}
        name = identifier("Package", one.kind, one.name, one.version)
        made.append(package(one.name.split("/")[-1], one.version, "NOASSERTION", SPDXID=name, externalRefs=[reference]))
        relations.append((name, one.use, main["SPDXID"]))
    return {
        "spdxVersion": "SPDX-2.3",
        "dataLicense": "CC0-1.0",
        "SPDXID": "SPDXRef-DOCUMENT",
        "name": f"meridian-{version}",
        "documentNamespace": f"https://meridian.example/spdx/meridian-{version}",
        "creationInfo": {
            "created": datetime.fromtimestamp(time, UTC).strftime("%Y-%m-%dT%H:%M:%SZ"),
            "creators": ["Organization: Meridian maintainers", "Tool: packaging/sbom.py"],
        },
        "packages": made,
        "relationships": [
            {"spdxElementId": first, "relationshipType": kind, "relatedSpdxElement": second}
            for first, kind, second in relations
        ],
    }


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--version", required=True, help="of the release")
    parser.add_argument("archive", type=Path, help="archive of the source")
    parser.add_argument("packages", type=Path, nargs="*", help="Debian packages")
    arguments = parser.parse_args()
    try:
        time = int(history.git(history.ROOT, "log", "-1", "--format=%ct"))
        made = document(history.ROOT, arguments.version, time, arguments.archive, sorted(arguments.packages))
    except history.Refused as reason:
        print(f"sbom: {reason}", file=sys.stderr)
        return 1
    print(json.dumps(made, indent=1))
    return 0


if __name__ == "__main__":
    sys.exit(main())
