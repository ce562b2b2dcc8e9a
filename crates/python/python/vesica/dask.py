"""Joins of Dask DataFrames: the buckets of a join are run by the workers of both parties' clusters.

::

    from distributed import Client
    from vesica import dask

    client = Client("tcp://scheduler:8786")
    matches = dask.intersect(df, on="email", role="receiver", buckets=64, work="/shared/vesica",
                             security="semi-honest", peer="them.pub", listen="0.0.0.0:7400")

docs/spark.md says what each side needs, and what it reveals.
"""

from __future__ import annotations

from vesica._cluster import Cluster
from vesica._dask import DaskPool

__all__ = ["cardinality", "dry_run", "intersect", "join_and_compute", "sum", "union", "union_cardinality", "union_sum"]

_cluster = Cluster(DaskPool)

intersect = _cluster.intersect
union = _cluster.union
cardinality = _cluster.cardinality
sum = _cluster.sum
join_and_compute = _cluster.join_and_compute
union_cardinality = _cluster.union_cardinality
union_sum = _cluster.union_sum
dry_run = _cluster.dry_run
run = _cluster.run
