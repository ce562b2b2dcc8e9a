"""The flags of the command line as arguments, for editors and type checkers.

The classes are made from the command's own list of flags: VESICA_BLESS=1 pytest crates/python/tests/test_docs.py
"""

from __future__ import annotations

import threading
from collections.abc import Mapping, Sequence
from datetime import timedelta
from os import PathLike
from typing import Any, Callable, Literal, Optional, TypedDict, Union

Role = Literal["receiver", "sender"]
Path = Union[str, PathLike[str]]
# Of pandas, also other labels than text.
Label = Union[str, int, tuple[Any, ...]]
Columns = Union[Label, Sequence[Label]]
Normalise = Mapping[Label, Union[str, Sequence[str]]]
# Seconds, or text such as "15m".
Time = Union[float, str, timedelta]
# Bytes, or text such as "8GiB".
Size = Union[int, str]
Count = Union[int, float]
Range = Union[str, tuple[Any, Any]]


class RunSettings(TypedDict, total=False):
    """Of `vesica receive` and `vesica send`."""

    join: Literal["inner", "left", "difference"]
    payload: Optional[Columns]
    group_by: Optional[Label]
    normalise: Optional[Normalise]
    null_words: Optional[Union[str, Sequence[str]]]
    or_on: Union[Columns, Sequence[Columns], None]
    force: bool
    listen: Optional[str]
    connect: Optional[str]
    relay: Optional[str]
    ticket: Optional[Path]
    proxy: Optional[str]
    identity: Optional[Path]
    passphrase_file: Optional[Path]
    peer: Optional[Path]
    peers: Optional[Path]
    insecure_plaintext: bool
    wait: Time
    deadline: Optional[Time]
    scale: Optional[Mapping[Label, int]]
    clamp: Optional[Mapping[Label, Range]]
    partner_clamp: Optional[Mapping[Label, Range]]
    payload_duplicates: Literal["refuse", "first", "sum"]
    reveal_if_at_least: Union[int, str]
    protocol: str
    link: Optional[str]
    security: Literal["malicious", "semi-honest"]
    post_quantum: bool
    allow_broken: bool
    allow_count: bool
    both_learn: bool
    max_item_bytes: Optional[Count]
    pad_to: Optional[Count]
    buckets: Optional[Union[Count, Literal["auto"]]]
    work: Optional[Path]
    resume: bool
    max_peer_items: Count
    memory: Optional[Size]
    threads: Optional[Count]
    receipt: Optional[Path]
    run_log: Optional[Path]
    no_run_log: bool
    expect_peer_items: Optional[Count]
    max_groups: Count
    epsilon: Optional[Union[float, str]]
    budget: Optional[Path]
    progress: Union[bool, Callable[[dict[str, Any]], None], None]
    with_report: bool
    cancel: Optional[threading.Event]


class QuerySettings(TypedDict, total=False):
    """Of `vesica query`."""

    join: Literal["inner", "left", "difference"]
    null_words: Optional[Union[str, Sequence[str]]]
    force: bool
    connect: Optional[str]
    proxy: Optional[str]
    identity: Optional[Path]
    passphrase_file: Optional[Path]
    peer: Optional[Path]
    peers: Optional[Path]
    insecure_plaintext: bool
    state: Optional[Path]
    wait: Time
    deadline: Optional[Time]
    security: Literal["malicious", "semi-honest"]
    post_quantum: bool
    trust_server: bool
    leak_prefix: Optional[Count]
    max_peer_items: Count
    memory: Optional[Size]
    threads: Optional[Count]
    run_log: Optional[Path]
    no_run_log: bool


class ServeSettings(TypedDict, total=False):
    """Of `vesica serve`."""

    null_words: Optional[Union[str, Sequence[str]]]
    payload: Optional[Columns]
    payload_duplicates: Literal["refuse", "first"]
    capacity: Optional[Count]
    state: Optional[Path]
    replace_state: bool
    max_shrink: Union[int, str]
    rotate_after: Optional[Time]
    overlap: Time
    items_per_query: Count
    protocol: str
    leak_prefix: Optional[Count]
    integer_bits: Optional[int]
    slow_hash: Optional[str]
    expect_queries: Count
    security: Literal["malicious", "semi-honest"]
    post_quantum: bool
    memory: Optional[Size]
    threads: Optional[Count]
    listen: Optional[str]
    identity: Optional[Path]
    passphrase_file: Optional[Path]
    clients: Optional[Path]
    trust_clients: bool
    any_client: bool
    insecure_plaintext: bool
    quota: Optional[str]
    no_quota: bool
    enrolments: str
    alert_volume: Optional[str]
    max_clients: Count
    connections_per_client: Count
    idle: Time
    run_log: Optional[Path]
    no_run_log: bool
    metrics: Optional[str]


class PlanSettings(TypedDict, total=False):
    """Of `vesica plan`."""

    security: Literal["malicious", "semi-honest"]
    payload_bytes: int
    receiver_payload_bytes: int
    columns: Optional[Count]
    groups: Count
    at_least: Union[int, str]
    both_learn: bool
    buckets: Union[Count, Literal["auto"]]
    allow_count: bool
    post_quantum: bool
    link: str
    threads: Count
    traffic: str
    prices: Optional[Path]
    all: bool
    allow_broken: bool
    calibrate: bool


class CheckSettings(TypedDict, total=False):
    """Of `vesica check`."""

    null_words: Optional[Union[str, Sequence[str]]]
    show_keys: int
    task: str
    side: Literal["receive", "send"]
    payload: Optional[Columns]
    payload_duplicates: Literal["refuse", "first", "sum"]
    scale: Optional[Mapping[Label, int]]
    clamp: Optional[Mapping[Label, Range]]
    group_by: Optional[Label]
