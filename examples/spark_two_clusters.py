"""Two organisations join their Spark DataFrames, each on a cluster of its own. Both are on this machine here.

Run it with the Python that has vesica and PySpark (`pip install '.[spark]'`), and Java 17:

    python examples/spark_two_clusters.py

It starts two standalone clusters of two executors each, and a program for either organisation. Only `join` below is
what an organisation writes itself.
"""

from __future__ import annotations

import argparse
import json
import logging
import os
import subprocess
import sys
import tempfile
import time
import urllib.request
from pathlib import Path
from typing import Any

import pyspark
from pyspark.sql import SparkSession

import vesica
from vesica import spark


def join(session: SparkSession, role: str, rows: int, settings: dict[str, Any]) -> Any:
    """Joins customers with those of the partner: every third one of the sender is one of the receiver. The sender's columns
    come with them."""
    session_rows = session.range(rows)
    if role == "receiver":
        ours = session_rows.selectExpr("concat('User', id * 3, '@Example.org') as email", "id % 7 as region")
        return spark.intersect(ours, on="email", role=role, normalise={"email": "email"}, **settings)
    theirs = session_rows.selectExpr(
        "concat('user', id, '@example.org') as mail",
        "if(id % 10 = 0, null, concat('segment ', id % 4)) as segment",
        "cast(id * 0.25 as decimal(12,2)) as spent",
        "date_add(date'2026-01-01', cast(id % 365 as int)) as since",
    )
    columns = ["segment", "spent", "since"]
    return spark.intersect(theirs, on="mail", role=role, payload=columns, normalise={"mail": "email"}, **settings)


class Cluster:
    """A standalone cluster: a master, and workers that have an executor with one core for each application."""

    def __init__(self, folder: Path, workers: int = 2) -> None:
        self.folder = folder
        folder.mkdir(parents=True, exist_ok=True)
        self._processes: list[subprocess.Popen[bytes]] = []
        try:
            free = ["--host", "127.0.0.1", "--port", "0", "--webui-port", "0"]
            self._spark_class("master", "org.apache.spark.deploy.master.Master", *free)
            self.master = self._logged("master", "Starting Spark master at ")
            page = self._logged("master", "and started at ") + "/json/"
            size = ["--cores", "1", "--memory", "1g", "--work-dir", str(folder / "work")]
            for number in range(workers):
                self._spark_class(f"worker-{number}", "org.apache.spark.deploy.worker.Worker", *free, *size, self.master)
            while json.load(urllib.request.urlopen(page))["aliveworkers"] < workers:
                time.sleep(0.2)
        except BaseException:
            self.stop()
            raise

    def _spark_class(self, name: str, *arguments: str) -> None:
        home = Path(pyspark.__file__).parent
        environment = {**os.environ, **ENVIRONMENT, "SPARK_HOME": str(home), "SPARK_DAEMON_MEMORY": "256m"}
        environment["SPARK_MASTER_OPTS"] = "-Dspark.master.rest.enabled=false"
        with open(self.folder / f"{name}.log", "wb") as log:
            command = [str(home / "bin" / "spark-class"), *arguments]
            self._processes.append(subprocess.Popen(command, env=environment, stdout=log, stderr=subprocess.STDOUT))

    def _logged(self, name: str, text: str) -> str:
        """The word that follows `text` in a log."""
        for _ in range(600):
            log = (self.folder / f"{name}.log").read_text(errors="replace")
            if text in log and "\n" in log.split(text, 1)[1]:
                return log.split(text, 1)[1].split()[0]
            time.sleep(0.1)
        raise TimeoutError(f"no {text!r} in {self.folder / name}.log")

    def executors(self) -> list[int]:
        """The processes of executors that run now."""
        found = []
        for process in Path("/proc").glob("[0-9]*"):
            try:
                command = (process / "cmdline").read_bytes()
            except OSError:
                continue
            if b"CoarseGrainedExecutorBackend" in command and str(self.folder).encode() in os.fsencode(
                os.readlink(process / "cwd")
            ):
                found.append(int(process.name))
        return found

    def stop(self) -> None:
        for process in reversed(self._processes):
            process.terminate()
        for process in self._processes:
            process.wait()


# What all processes of a cluster need to know on one machine.
ENVIRONMENT = {"PYSPARK_PYTHON": sys.executable, "PYSPARK_DRIVER_PYTHON": sys.executable, "SPARK_LOCAL_IP": "127.0.0.1"}

# Two cores and little memory.
SMALL = {
    "spark.ui.enabled": "false",
    "spark.ui.showConsoleProgress": "false",
    "spark.cores.max": "2",
    "spark.executor.memory": "512m",
    "spark.sql.parquet.compression.codec": "zstd",
}


def party(arguments: argparse.Namespace) -> None:
    """The program of one organisation."""
    os.environ.update(ENVIRONMENT)
    logging.basicConfig(format="%(relativeCreated)d ms: %(message)s")
    logging.getLogger("vesica").setLevel(logging.INFO)
    builder = SparkSession.builder.master(arguments.master).appName(f"vesica {arguments.role}")
    for name, value in SMALL.items():
        builder = builder.config(name, value)
    session = builder.getOrCreate()
    started = time.monotonic()
    settings = {**json.loads(arguments.settings), "with_report": True, "work": arguments.work}
    rows, report = join(session, arguments.role, arguments.rows, settings)
    report["seconds_of_join"] = time.monotonic() - started
    if rows is not None:
        rows.write.parquet(arguments.output)
        report["rows"] = session.read.parquet(arguments.output).count()
    print(json.dumps(report))


def start(role: str, cluster: Cluster, folder: Path, rows: int, settings: dict[str, Any]) -> subprocess.Popen[str]:
    """Starts the program of one organisation."""
    command = [sys.executable, "-W", "ignore", __file__, "--role", role, "--master", cluster.master]
    command += ["--rows", str(rows), "--work", str(folder / f"{role}-work"), "--output", str(folder / f"{role}-rows")]
    command += ["--settings", json.dumps(settings)]
    with open(folder / f"{role}.log", "w") as log:
        return subprocess.Popen(command, stdout=subprocess.PIPE, stderr=log, text=True)


def reach(folder: Path, port: int, **settings: Any) -> tuple[dict[str, Any], dict[str, Any]]:
    """What the two organisations told each other beforehand: keys, an address, and what both must say."""
    lines = {name: vesica.new_identity(folder / f"{name}.key") for name in ("receiver", "sender")}
    receiver = {"identity": str(folder / "receiver.key"), "peer": lines["sender"], "listen": f"127.0.0.1:{port}"}
    sender = {"identity": str(folder / "sender.key"), "peer": lines["receiver"], "connect": f"127.0.0.1:{port}"}
    return {**receiver, **settings}, {**sender, **settings}


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--rows", type=int, default=10_000, help="rows of each side")
    parser.add_argument("--buckets", type=int, default=4)
    for name in ("role", "master", "settings", "work", "output"):
        parser.add_argument(f"--{name}", help=argparse.SUPPRESS)
    arguments = parser.parse_args()
    if arguments.role:
        party(arguments)
        return
    with tempfile.TemporaryDirectory(prefix="vesica-") as name:
        folder = Path(name)
        clusters: list[Cluster] = []
        try:
            for role in ("receiver", "sender"):
                clusters.append(Cluster(folder / f"{role}-cluster"))
            ours, theirs = reach(folder, 7400, buckets=arguments.buckets)
            receiver = start("receiver", clusters[0], folder, arguments.rows, ours)
            sender = start("sender", clusters[1], folder, arguments.rows, theirs)
            text, _ = receiver.communicate()
            sender.communicate()
            if receiver.returncode or sender.returncode:
                raise SystemExit((folder / "receiver.log").read_text() + (folder / "sender.log").read_text())
            report = json.loads(text)
            print(f"{report['rows']} of {arguments.rows} rows match, with {report['protocol']} in {arguments.buckets} buckets")
        finally:
            for cluster in clusters:
                cluster.stop()


if __name__ == "__main__":
    main()
