package node_test

import (
	"bytes"
	"errors"
	"fmt"
	"log/slog"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/recountdb/recount/pipeline/broker"
	"github.com/recountdb/recount/server/node"
)

// operatorToken is long enough for an operator's token.
const operatorToken = "s3cret-s3cret-s3cret"

// TestConfigUnknownRole: the error names the role, and nothing that would follow from its absence.
func TestConfigUnknownRole(t *testing.T) {
	for _, roles := range [][]string{{"foo"}, {"serve", "foo"}} {
		_, err := node.Config{DataDir: t.TempDir(), Roles: roles}.Normal()
		if want := `roles: "foo": want some of log, ingest, process, project, serve`; err == nil || err.Error() != want {
			t.Errorf("%v: got %v, want %s", roles, err, want)
		}
	}
}

func TestConfigNamesFieldAndValue(t *testing.T) {
	readable := filepath.Join(t.TempDir(), "readable")
	if err := os.WriteFile(readable, []byte(operatorToken), 0o644); err != nil {
		t.Fatal(err)
	}
	empty := filepath.Join(t.TempDir(), "empty")
	if err := os.WriteFile(empty, nil, 0o600); err != nil {
		t.Fatal(err)
	}
	for name, tc := range map[string]struct {
		change func(*node.Config)
		want   string
	}{
		"no data directory":     {func(c *node.Config) { c.DataDir = "" }, `data_dir: ""`},
		"unknown role":          {func(c *node.Config) { c.Roles = []string{"log", "dance"} }, `roles: "dance"`},
		"role twice":            {func(c *node.Config) { c.Roles = append(slices.Clone(node.AllRoles), "log") }, `roles: "log": named twice`},
		"serve without project": {func(c *node.Config) { c.Roles = []string{"log", "serve"} }, "serve needs project"},
		"log and brokers":       {func(c *node.Config) { c.Roles, c.Kafka.Brokers = node.AllRoles, []string{"b:9092"} }, "kafka.brokers: b:9092"},
		"neither":               {func(c *node.Config) { c.Roles = []string{"ingest"} }, "kafka.brokers: none"},
		"embedder":              {func(c *node.Config) { c.Embedder = "magic" }, `embedder: "magic"`},
		"vector backend":        {func(c *node.Config) { c.Vector.Backend = "faiss" }, `vector.backend: faiss: vector: Backend "faiss": want flat or coder`},
		"vector setting":        {func(c *node.Config) { c.Vector.Retired = map[string]any{"eff": 1} }, "vector.eff: unknown setting: want vector.backend"},
		"http address":          {func(c *node.Config) { c.HTTP.Listen = "7171" }, `http.listen: "7171": want host:port`},
		"replays for everybody": {func(c *node.Config) { c.Replay.Execute = true }, "replay.execute: true: want http.token_file (--token-file)"},
		"replays on the network": {func(c *node.Config) {
			c.Replay.Execute, c.HTTP.Listen, c.HTTP.Token = true, "0.0.0.0:7171", operatorToken
		}, "replay.execute: true: http.listen is 0.0.0.0:7171"},
		"replays without serve": {func(c *node.Config) {
			c.Replay.Execute, c.HTTP.Token, c.Roles = true, operatorToken, []string{"log", "ingest"}
		}, "replay.execute: true: want the role serve"},
		"http on the network":     {func(c *node.Config) { c.HTTP.Listen = "0.0.0.0:7171" }, "http.listen: 0.0.0.0:7171: not loopback: want http.token_file"},
		"all addresses, by \":\"": {func(c *node.Config) { c.HTTP.Listen = ":7171" }, "not loopback"},
		"http in the clear":       {func(c *node.Config) { c.HTTP.Listen, c.HTTP.Token = "10.0.0.1:7171", operatorToken }, "--insecure-no-tls"},
		"certificate alone":       {func(c *node.Config) { c.HTTP.CertFile = "c.pem" }, `http.tls_cert: "c.pem"`},
		"kafka on the network":    {func(c *node.Config) { c.Kafka.Listen = "0.0.0.0:9092" }, "kafka.listen: 0.0.0.0:9092: not loopback, so anyone on the network could read and write the log: want kafka.sasl"},
		"partitions":              {func(c *node.Config) { c.Kafka.Partitions = -1 }, "kafka.partitions: -1"},
		"topic prefix":            {func(c *node.Config) { c.Kafka.Prefix = "a b" }, `kafka.prefix: "a b"`},
		"empty token file":        {func(c *node.Config) { c.HTTP.TokenFile = empty }, "http.token_file"},
		"missing token file":      {func(c *node.Config) { c.HTTP.TokenFile = empty + "x" }, "http.token_file"},
		"tokens, no operator":     {func(c *node.Config) { c.HTTP.TokensFile = empty }, "http.tokens_file: "},
		"short token":             {func(c *node.Config) { c.HTTP.Token = "s3cret" }, "http.token: too short: the token has 6 characters, want at least 16: openssl rand -hex 32 makes one"},
		"token of others":         {func(c *node.Config) { c.HTTP.TokenFile = readable }, "other users of this machine can read the token in it: run chmod 600 " + readable},
		"token twice":             {func(c *node.Config) { c.HTTP.Token, c.HTTP.TokenFile = "t", empty }, "given twice"},
		"spans' address":          {func(c *node.Config) { c.OTLP.GRPC = "4317" }, `otlp.grpc: "4317": want host:port, or none`},
		"spans on the network":    {func(c *node.Config) { c.OTLP.HTTP = "0.0.0.0:4318" }, "otlp.http: 0.0.0.0:4318: not loopback: want http.token_file"},
		"spans in the clear":      {func(c *node.Config) { c.OTLP.GRPC, c.HTTP.Token = "0.0.0.0:4317", operatorToken }, "otlp.grpc: 0.0.0.0:4317: not loopback: want http.tls_cert"},
		"spans' requests":         {func(c *node.Config) { c.OTLP.MaxRequestBytes = 1 }, "otlp.max_request_bytes: 1"},
		"spans in flight":         {func(c *node.Config) { c.OTLP.MaxInFlightBytes = 1 << 20 }, "otlp.max_in_flight_bytes: 1048576"},
		"body":                    {func(c *node.Config) { c.HTTP.MaxBodyBytes = -1 }, "http.max_body_bytes: -1"},
	} {
		t.Run(name, func(t *testing.T) {
			c := node.Config{DataDir: t.TempDir()}
			tc.change(&c)
			if _, err := c.Normal(); err == nil || !strings.Contains(err.Error(), tc.want) {
				t.Errorf("got %v, want %q", err, tc.want)
			}
		})
	}
}

func TestConfigDefaults(t *testing.T) {
	c, err := node.Config{DataDir: "d"}.Normal()
	if err != nil {
		t.Fatal(err)
	}
	if c.HTTP.Listen != "127.0.0.1:7171" || c.Kafka.Listen != "127.0.0.1:9092" || !slices.Equal(c.Roles, node.AllRoles) {
		t.Errorf("got %+v", c)
	}
	c, err = node.Config{DataDir: "d", Kafka: node.KafkaConfig{Brokers: []string{"b:9092"}}}.Normal()
	if err != nil || c.Has(node.RoleLog) || !c.Has(node.RoleServe) {
		t.Errorf("with brokers: %+v %v", c.Roles, err)
	}
}

func TestConfigFile(t *testing.T) {
	write := func(s string) string {
		path := filepath.Join(t.TempDir(), "recount.yaml")
		if err := os.WriteFile(path, []byte(s), 0o600); err != nil {
			t.Fatal(err)
		}
		return path
	}
	c, err := node.LoadConfig(write("data_dir: /d\nhttp:\n  listen: 127.0.0.1:0\n  token: s3cret-s3cret-s3cret\nshutdown_timeout: 3s\n"))
	if err != nil || c.HTTP.Listen != "127.0.0.1:0" || c.ShutdownTimeout.Seconds() != 3 {
		t.Fatalf("got %+v %v", c, err)
	}
	if s := fmt.Sprint(c.Effective()); strings.Contains(s, "s3cret-s3cret") || !strings.Contains(s, "[set]") {
		t.Errorf("the secret is told: %s", s)
	}
	if s := fmt.Sprint(node.Config{}.Effective()); strings.Contains(s, "null") || strings.Contains(s, "=0s") {
		t.Errorf("fields that are not set are told: %s", s)
	}
	if _, err := node.LoadConfig(write("data_dri: /d\n")); err == nil || !strings.Contains(err.Error(), "data_dri") {
		t.Errorf("misspelt field: %v", err)
	}
	if _, err := node.LoadConfig(write("")); err != nil {
		t.Errorf("empty file: %v", err)
	}
	if _, err := node.LoadConfig(filepath.Join(t.TempDir(), "none")); err == nil {
		t.Error("missing file: no error")
	}
}

// TestRetiredSettingsAreIgnored checks that a config file with settings of earlier releases
// (ranking weights, parameters of the vector index) starts a node, which warns about each and
// ignores them.
func TestRetiredSettingsAreIgnored(t *testing.T) {
	path := filepath.Join(t.TempDir(), "recount.yaml")
	if err := os.WriteFile(path, []byte("vector: {backend: flat, m: 32, ef: 80}\nevidence:\n  age: 0.2\n  half_life: 24h\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	read, err := node.LoadConfig(path)
	if err != nil {
		t.Fatal(err)
	}
	var log bytes.Buffer
	cfg := config(t.TempDir())
	cfg.Vector, cfg.Evidence, cfg.Logger = read.Vector, read.Evidence, slog.New(slog.NewTextHandler(&log, nil))
	n, err := node.Open(t.Context(), cfg)
	if err != nil {
		t.Fatal(err)
	}
	if err := n.Close(); err != nil {
		t.Fatal(err)
	}
	for _, setting := range []string{"vector.m", "vector.ef", "evidence.age", "evidence.half_life"} {
		if n := strings.Count(log.String(), "setting="+setting+"\n"); n != 1 {
			t.Errorf("%d warnings of %s, want 1:\n%s", n, setting, &log)
		}
	}
	if strings.Contains(fmt.Sprint(cfg.Effective()), "evidence.") {
		t.Errorf("settings that are ignored are said to be in effect: %s", cfg.Effective())
	}
}

// TestTokenFileIsAbsolute checks that endpoints.json names the token's file by its absolute path,
// because verbs run in other directories.
func TestTokenFileIsAbsolute(t *testing.T) {
	dir := t.TempDir()
	t.Chdir(dir)
	if err := os.WriteFile("token", []byte(operatorToken+"\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	c, err := node.Config{DataDir: "d", HTTP: node.HTTPConfig{TokenFile: "token"}}.Normal()
	if err != nil || c.HTTP.Token != operatorToken || !filepath.IsAbs(c.HTTP.TokenFile) || filepath.Base(c.HTTP.TokenFile) != "token" {
		t.Errorf("token %q of %s: %v", c.HTTP.Token, c.HTTP.TokenFile, err)
	}
}

// TestAcceptLoss checks that a log that may have lost events opens once this is accepted, and then
// without it.
func TestAcceptLoss(t *testing.T) {
	cfg := config(t.TempDir())
	reopen := func() error {
		n, err := node.Open(t.Context(), cfg)
		if err != nil {
			return err
		}
		return n.Close()
	}
	if err := reopen(); err != nil {
		t.Fatal(err)
	}
	marks, err := filepath.Glob(filepath.Join(cfg.DataDir, "log", "highwater*"))
	if err != nil || len(marks) == 0 {
		t.Fatalf("no high-water files: %v", err)
	}
	for _, f := range marks {
		if err := os.Remove(f); err != nil {
			t.Fatal(err)
		}
	}
	if err := reopen(); !errors.Is(err, broker.ErrLoss) || !strings.Contains(err.Error(), "recount up --accept-loss") {
		t.Errorf("open: %v, want the loss and the flag", err)
	}
	cfg.Kafka.AcceptLoss = true
	if err := reopen(); err != nil {
		t.Errorf("accepting it: %v", err)
	}
	cfg.Kafka.AcceptLoss = false
	if err := reopen(); err != nil {
		t.Errorf("opened again: %v", err)
	}
}
