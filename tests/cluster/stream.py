"""Streams bytes from one pseudo host to another: `stream.py receive`, then `stream.py send HOST PORT BYTES`.

The receiver prints its port, then bytes per second once all have arrived; it counts from the first byte.
"""

import socket
import sys
import time


def receive() -> None:
    with socket.create_server(("", 0)) as server:
        print(server.getsockname()[1], flush=True)
        connection, _ = server.accept()
        chunk = bytearray(1 << 20)
        received = connection.recv_into(chunk)
        begin_s, total_bytes = time.perf_counter(), 0
        while received:
            received = connection.recv_into(chunk)
            total_bytes += received
        print(total_bytes / (time.perf_counter() - begin_s))


def send(host: str, port: int, size_bytes: int) -> None:
    with socket.create_connection((host, port)) as connection:
        connection.sendall(bytes(size_bytes))


if sys.argv[1] == "receive":
    receive()
else:
    send(sys.argv[2], int(sys.argv[3]), int(sys.argv[4]))
