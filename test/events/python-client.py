"""A client on python-socketio: subscribes to the channels that come in by lines, and writes each event as a line."""

import json
import sys
import threading

import socketio

address = json.loads(sys.argv[1])
client = socketio.Client(reconnection=False)
writing = threading.Lock()


def write(line):
    with writing:
        print(json.dumps(line), flush=True)


def handler_of(event):
    # One parameter, as in every tutorial: an event with more arguments raises a TypeError here.
    def handle(data):
        write({"event": event, "data": data})

    return handle


for name in address["events"]:
    client.on(name, handler_of(name))

client.connect(
    address["url"],
    socketio_path=address["path"],
    transports=["websocket"],
    auth={"token": address["token"]},
    # As docs/api.md advises: the default of one second is too tight on a busy machine.
    wait_timeout=10,
)
for line in sys.stdin:
    client.emit("subscribe", line.strip())
client.disconnect()
