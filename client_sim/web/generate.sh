#!/bin/sh
# Makes generated/ of the schemas: readers and writers of the messages, by flatc.
set -eu
cd "$(dirname "$0")"
rm -rf generated
flatc --ts -o generated ../../protocol/schema/client_message.fbs ../../protocol/schema/server_message.fbs
