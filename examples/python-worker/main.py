"""python3 examples/python-worker/main.py, with WEFT_URL and WEFT_API_KEY set: serves two node types."""

import os

from weft_worker import NodeError, Worker

worker = Worker(os.environ.get("WEFT_URL", "http://127.0.0.1:7878"), os.environ["WEFT_API_KEY"])


@worker.node(
    "example.count-words",
    "1.0.0",
    inputs={"text": {"type": "string"}},
    outputs={"words": {"type": "integer"}},
    title="Count words",
)
def count_words(context):
    context.log("info", "counting")
    return {"words": len(context.inputs["text"].split())}


@worker.node(
    "example.divide",
    "1.0.0",
    inputs={"a": {"type": "number"}, "b": {"type": "number"}},
    outputs={"quotient": {"type": "number"}},
)
def divide(context):
    if context.inputs["b"] == 0:
        raise NodeError("division_by_zero", "b is 0")
    return {"quotient": context.inputs["a"] / context.inputs["b"]}


if __name__ == "__main__":
    worker.serve()
