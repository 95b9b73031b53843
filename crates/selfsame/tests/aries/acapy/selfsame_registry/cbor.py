"""The part of deterministic CBOR (RFC 8949 section 4.2.1) that the registry uses: numbers, bytes, texts, arrays."""

UINT, BYTES, TEXT, ARRAY = 0, 2, 3, 4
SIMPLE = 7


def encode(value) -> bytes:
    """The bytes of a value."""
    if isinstance(value, int):
        return _head(UINT, value)
    if isinstance(value, bytes):
        return _head(BYTES, len(value)) + value
    if isinstance(value, str):
        said = value.encode()
        return _head(TEXT, len(said)) + said
    return _head(ARRAY, len(value)) + b"".join(map(encode, value))


def _head(kind: int, number: int) -> bytes:
    for least, code, size in ((1 << 32, 27, 8), (1 << 16, 26, 4), (1 << 8, 25, 2), (24, 24, 1)):
        if number >= least:
            return bytes([kind << 5 | code]) + number.to_bytes(size, "big")
    return bytes([kind << 5 | number])


def decode(data: bytes):
    """The value of bytes, all of which belong to it."""
    value, end = _decode(data, 0)
    if end != len(data):
        raise ValueError("bytes after the value")
    return value


def _decode(data: bytes, at: int):
    kind, code = data[at] >> 5, data[at] & 31
    at += 1
    number = code
    if code in (24, 25, 26, 27):
        size = 1 << code - 24
        number = int.from_bytes(data[at : at + size], "big")
        at += size
    if kind == UINT:
        return number, at
    if kind == BYTES:
        return data[at : at + number], at + number
    if kind == TEXT:
        return data[at : at + number].decode(), at + number
    if kind == SIMPLE and code in (20, 21):
        return code == 21, at
    if kind != ARRAY:
        raise ValueError(f"major type {kind}")
    items = []
    for _ in range(number):
        item, at = _decode(data, at)
        items.append(item)
    return items, at
