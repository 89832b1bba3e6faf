"""Maps of other programs, by bpf(2): `python maps.py ATTACK` makes those of an attack, says "ready", and waits.

Only what a test needs: `enum bpf_cmd` and `union bpf_attr` of include/uapi/linux/bpf.h.
"""

from __future__ import annotations

import ctypes
import mmap
import os
import struct
import sys

CREATE, UPDATE, DELETE, NEXT_KEY, NEXT_MAP, BY_ID, INFORM = 0, 2, 3, 4, 12, 14, 15
HASH, ARRAY, PERCPU_ARRAY = 1, 2, 6
MMAPABLE = 1 << 10
_SYSCALL = {"x86_64": 321, "aarch64": 280}[os.uname().machine]


def bpf(command: int, attributes: bytes) -> tuple[int, bytes]:
    """Call bpf(2); return its result and the attributes."""
    buffer = ctypes.create_string_buffer(attributes.ljust(120, b"\0"), 120)
    result = ctypes.CDLL(None, use_errno=True).syscall(_SYSCALL, command, buffer, 120)
    if result < 0:
        raise OSError(ctypes.get_errno(), os.strerror(ctypes.get_errno()))
    return result, buffer.raw


def create(kind: int, key: int, value: int, entries: int, name: str, flags: int = 0) -> int:
    """Create a map; return its descriptor."""
    return bpf(CREATE, struct.pack("=7I16s", kind, key, value, entries, flags, 0, 0, name.encode()))[0]


def information(fd: int) -> tuple[int, int, str]:
    """Return kind, number and name of a map."""
    space = ctypes.create_string_buffer(80)
    bpf(INFORM, struct.pack("=IIQ", fd, 80, ctypes.addressof(space)))
    kind, number = struct.unpack_from("=II", space.raw)
    return kind, number, space.raw[24:40].split(b"\0")[0].decode()


def update(fd: int, key: bytes, value: bytes) -> None:
    """Write a value."""
    keys, values = ctypes.create_string_buffer(key, len(key)), ctypes.create_string_buffer(value, len(value))
    bpf(UPDATE, struct.pack("=IIQQQ", fd, 0, ctypes.addressof(keys), ctypes.addressof(values), 0))


def keys(fd: int, size: int) -> list[bytes]:
    """Return the keys of a hash map."""
    found: list[bytes] = []
    space, following = ctypes.create_string_buffer(size), ctypes.create_string_buffer(size)
    last = 0
    while True:
        try:
            bpf(NEXT_KEY, struct.pack("=IIQQ", fd, 0, last, ctypes.addressof(following)))
        except FileNotFoundError:
            return found
        found.append(following.raw)
        space.raw = following.raw
        last = ctypes.addressof(space)


def named(name: str) -> list[int]:
    """Return descriptors of every map with a name."""
    found, last = [], 0
    while True:
        try:
            last = struct.unpack_from("=I", bpf(NEXT_MAP, struct.pack("=I", last))[1], 4)[0]
        except FileNotFoundError:
            return found
        fd = bpf(BY_ID, struct.pack("=I", last))[0]
        if information(fd)[2] == name:
            found.append(fd)
        else:
            os.close(fd)


def page(fd: int, *words: int) -> None:
    """Write the first words of a map that can be mapped."""
    with mmap.mmap(fd, 4096) as memory:
        memory[: 8 * len(words)] = struct.pack(f"={len(words)}Q", *words)


#: The first word of a description that an earlier version would have believed.
MAGIC = int.from_bytes(b"scabout\x02", "little")
VICTIM = "tests_victim"


def foreign() -> None:
    """Maps whose names alone are known, of other sizes and kinds."""
    create(ARRAY, 4, 64, 1, "scn_about")
    create(ARRAY, 4, 64, 1, "sc_control")
    create(PERCPU_ARRAY, 4, 32_000, 1, "sc_operations")
    create(HASH, 4, 64, 1, "scn_control")


def forged() -> None:
    """A page that names a per-CPU map, whose value is longer than its value_size, and another program's hash map."""
    percpu = create(PERCPU_ARRAY, 4, 32_000, 1, "percpu")
    victim = create(HASH, 4, 4, 4, VICTIM)
    update(victim, bytes(4), b"gone")
    control = create(ARRAY, 4, 128, 1, "scn_control", MMAPABLE)
    name = int.from_bytes(b"forged", "little")
    for target in (percpu, victim):
        about = create(ARRAY, 4, 4096, 1, "scn_about", MMAPABLE)
        page(about, MAGIC, information(target)[1] | information(control)[1] << 32, 0, 0, name)


if __name__ == "__main__":
    {"foreign": foreign, "forged": forged}[sys.argv[1]]()
    print("ready", flush=True)
    sys.stdin.read()
