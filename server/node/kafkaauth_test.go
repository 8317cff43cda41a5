package node_test

import (
	"context"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/twmb/franz-go/pkg/kerr"
	"github.com/twmb/franz-go/pkg/kgo"
	"github.com/twmb/franz-go/pkg/sasl/plain"

	"github.com/recountdb/recount/server/access"
	"github.com/recountdb/recount/server/node"
)

// TestKafkaAsksForTheTokens checks that the Kafka listener requires tokens if they are configured,
// and grants the same as HTTP: everything to the operator, appending to tokens with the grant
// ingest, nothing to agents and unknown clients.
func TestKafkaAsksForTheTokens(t *testing.T) {
	dir := t.TempDir()
	ingest, agent := access.NewToken(), access.NewToken()
	tokens := "tokens:\n"
	for _, e := range []access.Entry{
		{SHA256: access.Hash(ingest), Name: "sensor", Grants: []string{"ingest"}},
		{SHA256: access.Hash(agent), Name: "claude", Agent: "claude", Workspaces: []string{"*"}},
	} {
		s, err := access.Format(e)
		if err != nil {
			t.Fatal(err)
		}
		tokens += s
	}
	operator := access.NewToken()
	tokenFile, tokensFile := filepath.Join(dir, "token"), filepath.Join(dir, "tokens.yaml")
	for path, text := range map[string]string{tokenFile: operator + "\n", tokensFile: tokens} {
		if err := os.WriteFile(path, []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	cert, key, _ := selfSigned(t)
	plainCfg := config(t.TempDir())
	plainCfg.HTTP.TokenFile, plainCfg.HTTP.TokensFile = tokenFile, tokensFile
	plainCfg.Roles = []string{node.RoleLog, node.RoleIngest}
	r := start(t, plainCfg)
	if got := r.KafkaAccess(); !strings.Contains(got, "SASL PLAIN: user operator") {
		t.Errorf("start says %q", got)
	}

	client := func(user, password string, opts ...kgo.Opt) *kgo.Client {
		opts = append(opts, kgo.SeedBrokers(r.KafkaAddr()), kgo.DisableIdempotentWrite(), kgo.RecordRetries(1))
		if user != "" {
			opts = append(opts, kgo.SASL(plain.Auth{User: user, Pass: password}.AsMechanism()))
		}
		c, err := kgo.NewClient(opts...)
		if err != nil {
			t.Fatal(err)
		}
		t.Cleanup(c.Close)
		return c
	}
	produce := func(c *kgo.Client, topic string) error {
		return c.ProduceSync(t.Context(), &kgo.Record{Topic: topic, Value: []byte(`{"command":"ls"}`)}).FirstErr()
	}
	for name, who := range map[string][2]string{
		"nobody": {"", ""}, "a wrong token": {"operator", "wrong"}, "an agent": {"claude", agent},
		"another's name": {"sensor", operator}, "the operator's name": {"operator", ingest},
	} {
		ctx, cancel := context.WithTimeout(t.Context(), 2*time.Second)
		if err := client(who[0], who[1], kgo.RetryTimeout(300*time.Millisecond)).Ping(ctx); err == nil {
			t.Errorf("%s was let in", name)
		}
		cancel()
	}
	if err := produce(client("operator", operator), "recount.erasures"); err != nil {
		t.Errorf("the operator: %v", err)
	}
	sensor := client("sensor", ingest)
	for topic, want := range map[string]error{
		"recount.commands": nil, "recount.spans": nil,
		"recount.commits":  kerr.TopicAuthorizationFailed, // it could retire snapshots
		"recount.agents":   kerr.TopicAuthorizationFailed, // it could name any agent
		"recount.erasures": kerr.TopicAuthorizationFailed,
		"recount.rejected": kerr.TopicAuthorizationFailed,
	} {
		if err := produce(sensor, topic); err != want {
			t.Errorf("ingest to %s: %v, want %v", topic, err, want)
		}
	}

	// An address other than loopback needs TLS besides a token, which would otherwise be sent in
	// clear text.
	far := config(t.TempDir())
	far.Kafka.Listen, far.HTTP.TokenFile = "0.0.0.0:0", tokenFile
	if _, err := far.Normal(); err == nil || !strings.Contains(err.Error(), "--kafka-tls-cert") {
		t.Errorf("a token without TLS: %v", err)
	}
	far.Kafka.CertFile, far.Kafka.KeyFile = cert, key
	if _, err := far.Normal(); err != nil {
		t.Errorf("a token with TLS: %v", err)
	}
}
