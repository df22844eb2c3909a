# SPDX-License-Identifier: BSD-3-Clause
"""Plan documents: YAML 1.2 and JSON to one object, and every text that is none."""

import io
import json
import os
import time
from pathlib import Path
from types import SimpleNamespace

import pytest

from wirerate.errors import PlanError
from wirerate.plan import document as document_module
from wirerate.plan.document import dump_document, load_document


@pytest.fixture
def load(tmp_path):
    def load_text(text):
        path = tmp_path / "plan"
        path.write_bytes(text if isinstance(text, bytes) else text.encode())
        return load_document(path)

    return load_text


@pytest.mark.parametrize(
    ("scalar", "value"),
    [
        ("02:57:52:00:00:01", "02:57:52:00:00:01"),
        ("10:11:22:33:44:55", "10:11:22:33:44:55"),  # YAML 1.1: a number of base 60
        ("190:20:30", "190:20:30"),
        ("no", "no"),
        ("on", "on"),
        ("y", "y"),
        ("2026-01-31", "2026-01-31"),
        ("::1", "::1"),
        ("1.2.3.4", "1.2.3.4"),
        ("1_000", "1_000"),
        ("0x88", 0x88),
        ("0o17", 15),
        ("010", 10),
        ("+5", 5),
        ("-5", -5),
        ("1e3", 1000.0),
        (".5", 0.5),
        ("58.67", 58.67),
        ("true", True),
        ("False", False),
        ("null", None),
        ("~", None),
        ("", None),
        (".inf", ".inf"),
        (".nan", ".nan"),
        ("'5'", "5"),
        ('"5"', "5"),
        ("! 5", "5"),
        ("!!str 5", "5"),
    ],
)
def test_scalars_are_those_of_yaml_1_2(load, scalar, value):
    loaded = load(f"key: {scalar}\n")["key"]
    assert loaded == value
    assert type(loaded) is type(value)


def test_merge_keys_are_keys_like_others(load):
    assert load("a: &a {x: 1}\nb: {<<: *a}") == {"a": {"x": 1}, "b": {"<<": {"x": 1}}}


def test_yaml_and_json_are_told_by_content(load):
    assert load('\ufeff {"a": [1, 2.5, "x", null, true]}') == {"a": [1, 2.5, "x", None, True]}
    assert load("{a: 1, b: [x, y]}") == {"a": 1, "b": ["x", "y"]}
    assert load('{"\\u00e9": "\\ud83d\\ude00"}') == {"é": "\U0001f600"}
    assert load("# a comment\n---\na: 1\n...\n") == {"a": 1}


def test_standard_input(monkeypatch):
    stdin = SimpleNamespace(buffer=io.BytesIO(b"a: 1"))
    monkeypatch.setattr("sys.stdin", stdin)
    assert load_document(Path("-")) == {"a": 1}
    stdin.buffer = io.BytesIO(b"a: [")
    with pytest.raises(PlanError, match="standard input line 2 column 1: "):
        load_document(Path("-"))


DEEP = 100_000


@pytest.mark.parametrize(
    ("text", "says"),
    [
        ("", "empty"),
        (" \n\t\n", "empty"),
        ("# nothing\n", "holds nothing"),
        ("- a\n", "a list, not an object"),
        ("just text", "a single value, not an object"),
        ("[1]", "a list"),
        ("a: 1\nb: [1\nc: 2\n", "line 3 column 2: "),
        ("a: @x", "line 1 column 4: "),
        ("\ta: 1", "line 1 column 1: a tab; YAML is indented with spaces only"),
        ("a:\n  b: 1\n\tc: 2", "line 3 column 1: a tab"),
        ("a:\n \tb: 1", "line 2 column 2: a tab"),
        ('{"a": 1,\n "b" 2}', "line 2 column 6: not JSON"),
        ('{"a": 1,\n "b": {"x": 1, "y": {},\n "x": 2}}', "line 3 column 2: key 'x' is there twice"),
        ('{"a": [{"k": "a:{"}], "\\u0061": 2} x', "line 1 column 23: key 'a' is there twice"),
        ("a: 1\nb:\n  c: 1\n  'c': 2\n", "line 4 column 3: key 'c' is there twice"),
        ("{a: 1, a: 2}", "line 1 column 8: key 'a' is there twice"),
        ('{"a": 1,\n "b": [', "line 2 column 8: not JSON: the text ends too early"),
        ('{"a": 1, "b": "x\ny"', "line 1 column 17: not JSON: Invalid control character"),
        ('{"a": 1, "b": "x', "line 1 column 15: not JSON: Unterminated string"),
        ('{"a": [1, 2,]}', "nothing between the comma and ]|Illegal trailing comma"),
        ('{"a": 1,\n}', "nothing between the comma and }|Illegal trailing comma"),
        ('{"a": 1, b: 2}', "not JSON: Expecting property name"),
        ('[{"a": 1}', "not JSON: the text ends too early"),
        ('{"a": NaN}', "NaN is no number"),
        ('{"a": -Infinity}', "-Infinity is no number"),
        ('{"a": 1e999}', "1e999 is too large"),
        ("a: 1e999", "line 1 column 4: number 1e999 is too large"),
        ('{"a": ' + "9" * 5000 + "}", "5000 characters"),
        ("a: " + "9" * 5000, "line 1 column 4: .*5000 characters"),
        ("a: 0x" + "f" * 5000, "5002 characters"),
        ('{"a": "\\ud800"}', "half of a surrogate pair"),
        ('a: "\\ud800"', "line 1 column 7"),
        ("1: 2", "line 1 column 1: key 1 is not text"),
        ("? [a]\n: 1", "line 1 column 3: a key is an object or a list"),
        ("? {a: 1}\n: 1", "line 1 column 3: a key is an object or a list"),
        ("a: !!binary aGk=", "line 1 column 4: tag .*binary"),
        ("a: !!python/object:os.system {}", "line 1 column 4: tag .*python"),
        ("a: !x [1]", "line 1 column 4: tag '!x'"),
        ("a: 1\n---\nb: 2\n", "line 2 column 1: a second document"),
        ("a: &a [*a]", "line 1 column 8: alias"),
        ("a: *b", "line 1 column 4: alias"),
        ("%FOO\n---\na: 1", "line 1 column"),
        (b"a: \xff", "0xff at offset 3"),
        (b"\x7fELF\x02\x01\x01" + bytes(64), "not YAML: .*character"),
        (b"\xff\xfea\x00:\x00", "not text in UTF-8"),
        ("a: " + "[" * DEEP, "nested more than 64 deep"),
        ("a: " + "[" * DEEP + "]" * DEEP, "nested more than 64 deep"),
        ('{"a": ' + "[" * DEEP + "]" * DEEP + "}", "nested more than 64 deep"),
        ('{"a": ' + "[" * 64 + "]" * 64 + "}", "nested more than 64 deep"),
        ("a: " + "[" * 64 + "]" * 64, "nested more than 64 deep"),
        ("- " * DEEP, "nested more than 64 deep"),
    ],
)
def test_what_is_no_plan(load, text, says):
    with pytest.raises(PlanError, match=says) as caught:
        load(text)
    assert str(caught.value).isprintable()
    assert "plan '" in str(caught.value)


def test_64_levels_are_read(load):
    nested = "[" * 63 + "]" * 63
    assert load(f"a: {nested}") == load('{"a": ' + nested + "}")


def test_alias_bomb(load):
    lines = ["a0: &a0 [x, x, x, x, x, x, x, x, x, x]"]
    lines += [f"a{i}: &a{i} [{', '.join([f'*a{i - 1}'] * 10)}]" for i in range(1, 10)]
    with pytest.raises(PlanError, match=r"line 7 column 20: .*aliases included"):
        load("\n".join(lines))


def test_aliases_are_written_out(load):
    loaded = load("a: &x {k: &y [1, 2]}\nb: *x\nc: *y\nd: [&z 5, *z]\n")
    assert loaded == {"a": {"k": [1, 2]}, "b": {"k": [1, 2]}, "c": [1, 2], "d": [5, 5]}
    assert "&" not in dump_document(loaded)


def test_file_that_cannot_be_read(tmp_path):
    fifo = tmp_path / "fifo"
    os.mkfifo(fifo)
    for path, says in [
        (tmp_path, "it is a directory"),
        (fifo, "not a regular file"),
        (Path("/dev/zero"), "not a regular file"),
        (tmp_path / "none.yaml", "No such file"),
        (tmp_path / ("x" * 300), "File name too long"),
        (Path("a\0b"), "null"),
    ]:
        with pytest.raises(PlanError, match=says) as caught:
            load_document(path)
        assert str(caught.value).isprintable()


@pytest.mark.skipif(os.geteuid() == 0, reason="root reads everything")
def test_file_without_permission(tmp_path):
    path = tmp_path / "plan"
    path.touch(0)
    with pytest.raises(PlanError, match="Permission denied"):
        load_document(path)


def test_file_too_large(tmp_path, monkeypatch):
    monkeypatch.setattr(document_module, "FILE_OCTETS_MAX", 1 << 20)
    path = tmp_path / "plan"
    path.write_bytes(b"a: 1".ljust(1 << 20))
    assert load_document(path) == {"a": 1}
    path.write_bytes(b"a: 1".ljust((1 << 20) + 1))
    with pytest.raises(PlanError, match="more than 1 MiB"):
        load_document(path)


def test_dump_is_block_style_in_order_and_quotes_what_would_be_misread():
    plan = {
        "z": [{"src": "10:11:22:33:44:55", "dst": "02:00:00:00:00:01"}],
        "a": {"hex": "0x10", "octal": "0o7", "exp": "1e3", "no": "no", "n": 1, "f": 2.5},
    }
    assert dump_document(plan).splitlines() == [
        "z:",
        "- src: '10:11:22:33:44:55'",
        "  dst: 02:00:00:00:00:01",
        "a:",
        "  hex: '0x10'",
        "  octal: '0o7'",
        "  exp: '1e3'",
        "  'no': 'no'",
        "  n: 1",
        "  f: 2.5",
    ]


def test_four_times_the_flows_take_four_times_as_long(tmp_path):
    """Anything quadratic would be sixteen; between the two is room for any machine."""
    flow = {
        "tx_rx": {"port": {"tx_name": "a", "rx_names": ["b"]}},
        "packet": [{"ipv4": {"src": {"increment": {"start": "10.0.0.1", "count": 5}}}}] * 10,
    }

    def cpu_s(text, plan):
        path = tmp_path / "plan"
        path.write_text(text)
        started = time.process_time()
        assert load_document(path) == plan
        return time.process_time() - started

    few, many = (
        {"flows": [{"name": f"f{i}", **flow} for i in range(number)]} for number in (100, 400)
    )
    for write in (dump_document, json.dumps):
        pairs = [(cpu_s(write(many), many), cpu_s(write(few), few)) for _ in range(3)]
        assert min(long for long, _ in pairs) < 10 * min(short for _, short in pairs)
