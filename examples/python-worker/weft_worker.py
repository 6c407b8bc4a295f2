"""A worker for Weft hosts in Python, with the standard library alone.

The protocol is in docs/guide/worker-protocol.md: register, read tasks from one streaming response, post reports.
"""

import json
import queue
import threading
import time
import urllib.error
import urllib.request
from concurrent.futures import ThreadPoolExecutor

REPORT_AT_MOST = 500
PAUSE_S = 1.0


class NodeError(Exception):
    """Ends an attempt with a code of the author's choice."""

    def __init__(self, code, message, retryable=False, details=None):
        super().__init__(message)
        self.code, self.retryable, self.details = code, retryable, details


class Context:
    """What a function gets of its task. `stopped` is set when it is to stop; what it returns then is dropped."""

    def __init__(self, task, say):
        self.inputs, self.config, self.secrets = task["inputs"], task["config"], task.get("secrets", {})
        self.invocation_id, self.attempt, self.run_id = task["invocationId"], task["attempt"], task["runId"]
        self.stopped = threading.Event()
        self.ref = {"taskId": task["taskId"], "lease": task["lease"]}
        self._say, self._chunks = say, 0

    def emit(self, text):
        self._say("chunks", {**self.ref, "index": self._chunks, "text": text})
        self._chunks += 1

    def heartbeat(self, details=None):
        if self.stopped.is_set():
            raise NodeError("cancelled", "The task was stopped.")
        self._say("progress", self.ref if details is None else {**self.ref, "details": details})

    def log(self, level, message):
        self._say("logs", {**self.ref, "level": level, "message": message})


class Worker:
    def __init__(self, url, key, concurrency=8, name="python"):
        self.base, self.key = url.rstrip("/") + "/v1/host/weft/workers", key
        self.concurrency, self.name = concurrency, name
        self.nodes, self.documents = {}, []
        self.tasks, self.lock = {}, threading.Lock()
        self.outgoing = queue.Queue()
        self.lease_until, self.heartbeat_s = 0.0, PAUSE_S

    def node(self, type_id, version, inputs, outputs, **more):
        """Makes a node type of a function that takes a Context and returns a dict."""
        ports = lambda members: {
            "type": "object",
            "properties": members,
            "required": list(members),
            "additionalProperties": False,
        }

        def register(function):
            self.nodes[type_id] = function
            document = {"typeId": type_id, "version": version, "inputs": ports(inputs), "outputs": ports(outputs)}
            self.documents.append({**document, **more})
            return function

        return register

    def serve(self):
        """Serves until the process ends; connects again when the connection is lost."""
        with ThreadPoolExecutor(self.concurrency) as pool:
            while True:
                try:
                    self._session(pool)
                except urllib.error.HTTPError as error:
                    if error.code < 500 and error.code not in (404, 408, 429):
                        raise SystemExit(f"refused: {error.code} {error.read().decode()}")
                    print(f"disconnected: {error}", flush=True)
                except (OSError, ValueError) as error:
                    print(f"disconnected: {error}", flush=True)
                time.sleep(PAUSE_S)

    def _session(self, pool):
        sent_at = time.monotonic()
        with self.lock:
            resume = [context.ref for context in self.tasks.values()]
        answer = self._post("", {"name": self.name, "capacity": self.concurrency, "types": self.documents, "resume": resume})
        self.lease_until = sent_at + answer["leaseMs"] / 1000
        self.heartbeat_s = answer["heartbeatMs"] / 1000
        self._keep_only(answer["resumed"])
        over = threading.Event()
        reporter = threading.Thread(target=self._report, args=(answer["workerId"], over), daemon=True)
        reporter.start()
        try:
            with self._open("GET", f"/{answer['workerId']}/tasks") as stream:
                print("connected", flush=True)
                for line in stream:
                    if over.is_set():
                        return
                    self._receive(json.loads(line), pool)
        finally:
            over.set()
            reporter.join()

    def _receive(self, message, pool):
        if message["type"] == "task" and time.monotonic() < self.lease_until:
            context = Context(message, self._say)
            with self.lock:
                self.tasks[message["taskId"]] = context
            pool.submit(self._perform, message, context)
        elif message["type"] == "cancel":
            self._drop(message)
        elif message["type"] == "close":
            raise ValueError(f"the host has closed the session ({message['reason']})")

    def _perform(self, task, context):
        try:
            result = {"outputs": self.nodes[task["typeId"]](context)}
            json.dumps(result)
        except NodeError as error:
            result = {"error": {"code": error.code, "message": str(error), "retryable": error.retryable}}
        except Exception as error:
            result = {"error": {"code": "node_failed", "message": f"{type(error).__name__}: {error}"[:8000]}}
        if not context.stopped.is_set():
            self._say("results", {**context.ref, **result})

    def _say(self, section, piece):
        self.outgoing.put((section, piece))

    def _report(self, worker_id, over):
        """Posts what there is, at least a heartbeat; what was not answered is posted again."""
        report, pieces = {}, []
        while not over.is_set():
            if not pieces:
                pieces = self._gather()
                report = {}
                for section, piece in pieces:
                    report.setdefault(section, []).append(piece)
            if time.monotonic() >= self.lease_until:
                self._keep_only([])
                over.set()
                break
            sent_at = time.monotonic()
            try:
                receipt = self._post(f"/{worker_id}/reports", report)
            except urllib.error.HTTPError as error:
                if error.code == 404:
                    over.set()
                    break
                time.sleep(0.2)
                continue
            except OSError:
                time.sleep(0.2)
                continue
            self.lease_until = max(self.lease_until, sent_at + receipt["leaseMs"] / 1000)
            for ref in receipt["refused"] + report.get("results", []):
                self._drop(ref)
            pieces = []
        # Another session says it, if its task is still in hand there.
        for piece in pieces:
            self.outgoing.put(piece)

    def _gather(self):
        pieces = []
        try:
            pieces.append(self.outgoing.get(timeout=self.heartbeat_s))
            while len(pieces) < REPORT_AT_MOST:
                pieces.append(self.outgoing.get_nowait())
        except queue.Empty:
            pass
        return pieces

    def _drop(self, ref):
        with self.lock:
            context = self.tasks.get(ref["taskId"])
            if context is None or context.ref["lease"] != ref["lease"]:
                return
            del self.tasks[ref["taskId"]]
        context.stopped.set()

    def _keep_only(self, refs):
        kept = {(ref["taskId"], ref["lease"]) for ref in refs}
        with self.lock:
            others = [context.ref for context in self.tasks.values()]
        for ref in others:
            if (ref["taskId"], ref["lease"]) not in kept:
                self._drop(ref)

    def _post(self, path, body):
        with self._open("POST", path, body, timeout=30) as response:
            return json.loads(response.read())

    def _open(self, method, path, body=None, timeout=None):
        data = None if body is None else json.dumps(body).encode()
        headers = {"Authorization": f"Bearer {self.key}", "Content-Type": "application/json"}
        request = urllib.request.Request(self.base + path, data, headers, method=method)
        return urllib.request.urlopen(request, timeout=timeout)
