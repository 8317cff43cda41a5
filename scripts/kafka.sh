#!/usr/bin/env bash
# kafka.sh: one Apache Kafka node (KRaft) on loopback, for tests of our client
# code against the real thing. Needs Java 17 and mvn; the jars come from Maven's
# repository and are kept for the next time.
#
#   scripts/kafka.sh start DIR   start a new node with its data, log and pid in DIR;
#                                prints its address when it serves
#   scripts/kafka.sh stop DIR    stop it, by its pid
#
# KAFKA_VERSION   which release (default 4.1.0)
# KAFKA_JARS      where its jars are kept (default under the user's cache directory)
set -euo pipefail

version=${KAFKA_VERSION:-4.1.0}
jars=${KAFKA_JARS:-${XDG_CACHE_HOME:-$HOME/.cache}/recount/kafka-$version}

die() { echo "kafka.sh: $*" >&2; exit 1; }

# fetch fetches the jars, once: tests of several packages start nodes at the same time.
fetch() (
  [ -e "$jars/complete" ] && exit
  command -v mvn >/dev/null || die "mvn is not installed"
  mkdir -p "$jars"
  exec 9>"$jars/lock"
  if command -v flock >/dev/null; then flock 9; fi
  [ -e "$jars/complete" ] && exit
  tmp=$(mktemp -d)
  trap 'rm -rf "$tmp"' EXIT
  cat >"$tmp/pom.xml" <<POM
<project xmlns="http://maven.apache.org/POM/4.0.0">
  <modelVersion>4.0.0</modelVersion>
  <groupId>recount</groupId><artifactId>kafka-for-tests</artifactId><version>1</version>
  <dependencies>
    <dependency><groupId>org.apache.kafka</groupId><artifactId>kafka_2.13</artifactId><version>$version</version></dependency>
  </dependencies>
</project>
POM
  if ! mvn -q -B -f "$tmp/pom.xml" dependency:copy-dependencies -DincludeScope=runtime -DoutputDirectory="$jars" >"$tmp/mvn.log" 2>&1; then
    cat "$tmp/mvn.log" >&2
    die "the jars of Kafka $version could not be fetched"
  fi
  touch "$jars/complete"
)

# port prints one that nobody listens on.
port() {
  local p
  while :; do
    p=$((20000 + RANDOM % 10000))
    (exec 3<>"/dev/tcp/127.0.0.1/$p") 2>/dev/null || { echo "$p"; return; }
  done
}

start() {
  local dir=$1 client controller id
  command -v java >/dev/null || die "java is not installed"
  [ ! -e "$dir/pid" ] || die "$dir/pid exists: stop the node first"
  fetch
  mkdir -p "$dir"
  client=$(port)
  controller=$(port)
  while [ "$controller" = "$client" ]; do controller=$(port); done
  cat >"$dir/server.properties" <<CONF
process.roles=broker,controller
node.id=1
controller.quorum.voters=1@127.0.0.1:$controller
listeners=PLAINTEXT://127.0.0.1:$client,CONTROLLER://127.0.0.1:$controller
advertised.listeners=PLAINTEXT://127.0.0.1:$client
controller.listener.names=CONTROLLER
listener.security.protocol.map=PLAINTEXT:PLAINTEXT,CONTROLLER:PLAINTEXT
inter.broker.listener.name=PLAINTEXT
log.dirs=$dir/data
auto.create.topics.enable=false
offsets.topic.num.partitions=1
offsets.topic.replication.factor=1
transaction.state.log.num.partitions=1
transaction.state.log.replication.factor=1
transaction.state.log.min.isr=1
share.coordinator.state.topic.num.partitions=1
share.coordinator.state.topic.replication.factor=1
share.coordinator.state.topic.min.isr=1
group.initial.rebalance.delay.ms=0
CONF
  id=R$(head -c 16 /dev/urandom | base64 | tr -d '=+/\n' | head -c 20)A
  java -cp "$jars/*" kafka.tools.StorageTool format -t "$id" -c "$dir/server.properties" >"$dir/log" 2>&1 ||
    { cat "$dir/log" >&2; die "formatting its storage"; }
  nohup java -Xmx512m -cp "$jars/*" kafka.Kafka "$dir/server.properties" >>"$dir/log" 2>&1 </dev/null &
  echo $! >"$dir/pid"
  for _ in $(seq 600); do # two minutes
    if (exec 3<>"/dev/tcp/127.0.0.1/$client") 2>/dev/null; then
      echo "127.0.0.1:$client"
      return
    fi
    kill -0 "$(cat "$dir/pid")" 2>/dev/null || break
    sleep 0.2
  done
  cat "$dir/log" >&2
  stop "$dir"
  die "the node did not come up"
}

stop() {
  local dir=$1 pid
  pid=$(cat "$dir/pid" 2>/dev/null) || die "no pid in $dir"
  kill "$pid" 2>/dev/null || true
  for _ in $(seq 100); do
    kill -0 "$pid" 2>/dev/null || { rm -f "$dir/pid"; return; }
    sleep 0.2
  done
  kill -9 "$pid" 2>/dev/null || true
  rm -f "$dir/pid"
}

case "${1:-}" in
start) start "${2:?start: in which directory}" ;;
stop) stop "${2:?stop: in which directory}" ;;
*) die "usage: kafka.sh start|stop DIR" ;;
esac
