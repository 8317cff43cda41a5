#!/usr/bin/env bash
# mcp.sh: clients that are not ours against MCP: the official conformance suite, the TypeScript
# SDK over HTTP, and the Python SDK on standard input and output. Needs go, node, npm, python3 and
# git; it installs the clients from their registries.
#
#   scripts/mcp.sh RECOUNT    the binary to test
set -euo pipefail

recount=$(realpath "${1:?usage: scripts/mcp.sh RECOUNT}")
dir=$(mktemp -d)
server=
trap '[ -z "$server" ] || { kill $server 2>/dev/null || true; wait $server || true; }; rm -rf "$dir"' EXIT

(cd "$dir" && npm init -y >/dev/null && npm install --no-audit --no-fund --silent @modelcontextprotocol/conformance@0.1 @modelcontextprotocol/sdk@1 node@22)
node=$dir/node_modules/node/bin/node # the suite needs Node 22
python3 -m venv "$dir/py" && "$dir/py/bin/pip" install -q 'mcp>=1,<2'

mkdir "$dir/shop"
cat >"$dir/shop/shop.go" <<'GO'
package shop

func Total(items []int) (sum int) {
	for _, i := range items {
		sum += taxed(i)
	}
	return sum
}

func taxed(i int) int { return i + i/5 }
GO
printf 'module example.org/shop\n\ngo 1.26\n' >"$dir/shop/go.mod"
git -C "$dir/shop" init -q && git -C "$dir/shop" add -A
git -C "$dir/shop" -c user.name=a -c user.email=a@example.org commit -q -m one
export RECOUNT_DATA_DIR=$dir/data
"$recount" import git "$dir/shop" >/dev/null

# Python, on standard input and output.
cat >"$dir/client.py" <<'PY'
import asyncio, sys
from mcp import ClientSession, StdioServerParameters
from mcp.client.stdio import stdio_client

async def main():
    at = StdioServerParameters(command=sys.argv[1], args=["mcp", "--dir", sys.argv[2]], env={"RECOUNT_DATA_DIR": sys.argv[3], "HOME": sys.argv[3], "PATH": "/usr/bin:/bin"})
    async with stdio_client(at) as (read, write), ClientSession(read, write) as s:
        await s.initialize()
        tools = await s.list_tools()
        r = await s.call_tool("calls", {"symbol": "taxed"})
        assert not r.isError and ".Total" in r.content[0].text, r
        assert ".Total" in r.structuredContent["answer"], r
        proof = await s.read_resource(r.structuredContent["proof"])
        assert "watermark" in proof.contents[0].text
        r = await s.call_tool("calls", {"symbol": "nothing"})
        assert r.isError and "call symbols" in r.content[0].text, r
        await s.get_prompt("start_task", {"task": "x"})
        print("python: %d tools, calls, errors, resources and prompts" % len(tools.tools))

asyncio.run(main())
PY
"$dir/py/bin/python" "$dir/client.py" "$recount" "$dir/shop" "$dir/data"

# TypeScript and the conformance suite, over HTTP.
"$recount" up --http 127.0.0.1:0 --kafka none --otlp-grpc none --otlp-http none >"$dir/up.log" 2>&1 &
server=$!
for _ in $(seq 600); do [ -e "$dir/data/endpoints.json" ] && break; sleep 0.1; done
url=$(sed -n 's/.*"http": "\(.*\)".*/\1/p' "$dir/data/endpoints.json")/mcp
cat >"$dir/client.mjs" <<'JS'
import { Client } from "@modelcontextprotocol/sdk/client/index.js";
import { StreamableHTTPClientTransport } from "@modelcontextprotocol/sdk/client/streamableHttp.js";
const c = new Client({ name: "t", version: "1" });
await c.connect(new StreamableHTTPClientTransport(new URL(process.argv[2])));
const { tools } = await c.listTools();
const r = await c.callTool({ name: "calls", arguments: { symbol: "taxed" } });
if (r.isError || !r.content[0].text.includes(".Total")) throw new Error(JSON.stringify(r));
const wrong = await c.callTool({ name: "calls", arguments: { sym: 1 } });
if (!wrong.isError) throw new Error(JSON.stringify(wrong));
await c.readResource({ uri: r.structuredContent.proof });
await c.getPrompt({ name: "start_task", arguments: { task: "x" } });
console.log(`typescript: ${tools.length} tools, calls, errors, resources and prompts`);
await c.close();
JS
(cd "$dir" && "$node" client.mjs "$url")

# The scenarios that demand no tools of the suite's own, against the program itself.
failed=0
for scenario in server-initialize ping logging-set-level tools-list resources-list prompts-list server-sse-multiple-streams dns-rebinding-protection; do
  if (cd "$dir" && "$node" node_modules/.bin/conformance server --url "$url" --scenario "$scenario") >"$dir/conformance.log" 2>&1; then
    echo "conformance: $scenario passes"
  else
    echo "conformance: $scenario fails" && tail -30 "$dir/conformance.log"
    failed=1
  fi
done

# All scenarios, against the same server with the suite's fixtures beside its own tools.
cd "$(dirname "$0")/.."
RECOUNT_CONFORMANCE_MODULES=$dir/node_modules go test -vet=off -count=1 -v -run '^TestConformance$' ./server/mcp | grep -v '^=== ' || failed=1
exit $failed
