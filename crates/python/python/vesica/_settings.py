"""The flags of the command line as arguments, for editors and type checkers. The command says what each means."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from datetime import timedelta
from os import PathLike
from typing import Any, Callable, Optional, TypedDict, Union

Path = Union[str, PathLike[str]]
Columns = Union[str, Sequence[str]]
Normalise = Mapping[str, Union[str, Sequence[str]]]
# Seconds, or text such as "15m".
Time = Union[float, str, timedelta]
# Bytes, or text such as "8GiB".
Size = Union[int, str]
Count = Union[int, float]
Range = Union[str, tuple[Any, Any]]


class Meeting(TypedDict, total=False):
    """How a side meets the other one."""

    connect: Optional[str]
    identity: Optional[Path]
    peer: Optional[Path]
    peers: Optional[Path]
    insecure_plaintext: bool
    wait: Time
    deadline: Optional[Time]
    security: str
    max_peer_items: Count
    memory: Optional[Size]
    threads: Optional[int]


class RunSettings(Meeting, total=False):
    """Of `vesica receive` and `vesica send`."""

    normalise: Optional[Normalise]
    null_words: Optional[Columns]
    or_on: Optional[Sequence[Columns]]
    join: str
    payload: Optional[Columns]
    payload_duplicates: str
    scale: Optional[Mapping[str, int]]
    clamp: Optional[Mapping[str, Range]]
    partner_clamp: Optional[Mapping[str, Range]]
    group_by: Optional[str]
    max_groups: int
    epsilon: Union[float, str, None]
    budget: Optional[Path]
    reveal_if_at_least: int
    both_learn: bool
    listen: Optional[str]
    protocol: str
    link: Optional[str]
    allow_broken: bool
    allow_count: bool
    pad_to: Optional[Count]
    buckets: int
    max_item_bytes: Optional[int]
    receipt: Optional[Path]
    force: bool
    expect_peer_items: Optional[Count]
    progress: Union[bool, Callable[[dict[str, Any]], None], None]
    with_report: bool


class QuerySettings(Meeting, total=False):
    """Of `vesica query`."""

    null_words: Optional[Columns]
    join: str
    state: Optional[Path]
    trust_server: bool
    leak_prefix: Optional[int]


class ServeSettings(TypedDict, total=False):
    """Of `vesica serve`."""

    null_words: Optional[Columns]
    listen: str
    clients: Optional[Path]
    any_client: bool
    insecure_plaintext: bool
    identity: Optional[Path]
    quota: Optional[str]
    no_quota: bool
    payload: Optional[Columns]
    payload_duplicates: str
    capacity: Optional[Count]
    state: Optional[Path]
    replace_state: bool
    max_shrink: Union[int, str]
    rotate_after: Optional[Time]
    overlap: Time
    items_per_query: int
    protocol: str
    leak_prefix: Optional[int]
    integer_bits: Optional[int]
    slow_hash: Optional[str]
    expect_queries: Optional[Count]
    security: str
    memory: Optional[Size]
    threads: Optional[int]
    trust_clients: bool
    enrolments: str
    alert_volume: Optional[str]
    metrics: Optional[str]
    max_clients: int
    connections_per_client: int
    idle: Time


class PlanSettings(TypedDict, total=False):
    """Of `vesica plan`."""

    security: str
    payload_bytes: int
    receiver_payload_bytes: int
    columns: Optional[int]
    groups: int
    at_least: int
    both_learn: bool
    allow_count: bool
    buckets: int
    link: str
    threads: int
    traffic: str
    prices: Optional[Path]
    calibrate: bool


class CheckSettings(TypedDict, total=False):
    """Of `vesica check`."""

    null_words: Optional[Columns]
    show_keys: int
    task: str
    side: str
    payload: Optional[Columns]
    payload_duplicates: str
    scale: Optional[Mapping[str, int]]
    clamp: Optional[Mapping[str, Range]]
    group_by: Optional[str]
