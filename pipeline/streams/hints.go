package streams

import (
	"fmt"
	"maps"
	"os"
	"slices"
	"strings"

	"go.yaml.in/yaml/v3"
)

// Benthos reports "unable to infer" for a component that it does not know. hints names the
// replacement for components of Redpanda Connect.

// instead maps the prefix of a component's name to its replacement here.
var instead = map[string]string{
	"kafka":             "kafka_franz, redpanda or recount_log, which read and write any Kafka",
	"kafka_balanced":    "kafka_franz, redpanda or recount_log with a consumer_group",
	"ockam_kafka":       "kafka_franz, redpanda or recount_log",
	"redpanda_common":   "redpanda, with seed_brokers of its own",
	"redpanda_migrator": "redpanda, input and output",
	"schema_registry_":  "the processors of Bloblang (mapping)",
	"aws_":              "file, http_client, or subprocess around a command-line tool",
	"gcp_":              "file, http_client, or subprocess around a command-line tool",
	"azure_":            "file, http_client, or subprocess around a command-line tool",
	"sql_":              "http_client, or subprocess around a command-line tool",
	"mongodb":           "http_client, or subprocess around a command-line tool",
	"elasticsearch":     "http_client: its API is HTTP",
	"opensearch":        "http_client: its API is HTTP",
	"splunk_hec":        "http_client: its API is HTTP",
	"nats":              "subprocess around a command-line tool",
	"amqp_":             "subprocess around a command-line tool",
	"mqtt":              "subprocess around a command-line tool",
	"pulsar":            "subprocess around a command-line tool",
	"redis_":            "subprocess around a command-line tool",
	"statsd":            "prometheus, recount_prometheus or json_api",
	"influxdb":          "prometheus, recount_prometheus or json_api",
	"aws_cloudwatch":    "prometheus, recount_prometheus or json_api",
	"jaeger":            "no tracer; recount up receives spans by OTLP",
	"open_telemetry_":   "no tracer; recount up receives spans by OTLP",
	"gcp_cloudtrace":    "no tracer; recount up receives spans by OTLP",
	"protobuf":          "the processors of Bloblang (mapping)",
	"avro":              "the processors of Bloblang (mapping)",
}

// hints returns one line for each unknown component in a config, without duplicates.
func hints(config string) []string {
	var root any
	if yaml.Unmarshal([]byte(config), &root) != nil {
		return nil
	}
	found := map[string]string{}
	var walk func(v any)
	walk = func(v any) {
		switch v := v.(type) {
		case map[string]any:
			for key, below := range v {
				if text, ok := insteadOf(key); ok {
					found[key] = text
				}
				walk(below)
			}
		case []any:
			for _, below := range v {
				walk(below)
			}
		}
	}
	walk(root)
	var lines []string
	for _, name := range slices.Sorted(maps.Keys(found)) {
		lines = append(lines, fmt.Sprintf("%s is not available here; use %s", name, found[name]))
	}
	return lines
}

func insteadOf(name string) (string, bool) {
	best := ""
	for start := range instead {
		whole := !strings.HasSuffix(start, "_")
		if (name == start || !whole && strings.HasPrefix(name, start) || whole && start == "nats" && strings.HasPrefix(name, "nats_")) && len(start) > len(best) {
			best = start
		}
	}
	return instead[best], best != ""
}

// fileHints returns the hints for those arguments that are YAML files.
func fileHints(args []string) []string {
	var lines []string
	for _, arg := range args {
		if b, err := os.ReadFile(arg); err == nil {
			for _, line := range hints(string(b)) {
				lines = append(lines, arg+": "+line)
			}
		}
	}
	return lines
}
