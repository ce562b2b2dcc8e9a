"""The program of one organisation in test_spark.py: joins with a partner that stays, and with one that does not."""

from __future__ import annotations

import json
import logging
import os
import sys

import spark_two_clusters as example

role, master, folder, settings = sys.argv[1:]
logging.basicConfig(format="%(relativeCreated)d ms: %(message)s", stream=sys.stderr)
logging.getLogger("vesica").setLevel(logging.INFO)
os.environ.update(example.ENVIRONMENT)
builder = example.SparkSession.builder.master(master)
for name, value in example.SMALL.items():
    builder = builder.config(name, value)
session = builder.getOrCreate()
for number, given in enumerate(json.loads(settings)):
    rows = given.pop("rows")
    result, report = example.join(session, role, rows, {**given, "with_report": True, "work": f"{folder}/{role}-work"})
    if result is not None:
        result.write.parquet(f"{folder}/{role}-rows-{number}")
    with open(f"{folder}/{role}-{number}.json", "w") as file:
        json.dump(report, file)
