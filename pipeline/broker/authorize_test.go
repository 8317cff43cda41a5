package broker_test

import (
	"context"
	"crypto/ecdsa"
	"crypto/elliptic"
	"crypto/rand"
	"crypto/tls"
	"crypto/x509"
	"encoding/pem"
	"errors"
	"math/big"
	"net"
	"os"
	"path/filepath"
	"reflect"
	"slices"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"github.com/twmb/franz-go/pkg/kadm"
	"github.com/twmb/franz-go/pkg/kerr"
	"github.com/twmb/franz-go/pkg/kgo"
	"github.com/twmb/franz-go/pkg/kmsg"
	"github.com/twmb/franz-go/pkg/sasl/plain"
	"github.com/twmb/franz-go/pkg/sasl/scram"

	"github.com/recountdb/recount/pipeline/broker"
)

// doors opens a broker with three users that log in: root may do everything, sensor may append to
// topic "events", guest is refused. revoked ends sensor's rights.
func doors(t *testing.T, opts broker.Options) (b *broker.Broker, revoked *atomic.Bool) {
	t.Helper()
	revoked = new(atomic.Bool)
	opts.SASL.Login = func(user, password string) (broker.Session, error) {
		switch user + ":" + password {
		case "root:pw":
			return func() (broker.Rights, error) { return broker.Rights{Everything: true}, nil }, nil
		case "sensor:pw":
			return func() (broker.Rights, error) {
				if revoked.Load() {
					return broker.Rights{}, errors.New("the token is unknown")
				}
				return broker.Rights{Append: func(topic string) bool { return topic == "events" }}, nil
			}, nil
		}
		return nil, errors.New("nobody of that name and password")
	}
	opts.Listen = []string{"127.0.0.1:0"}
	b = open(t, t.TempDir(), opts)
	createTopic(t, b, "events", 2) // in memory, without authentication
	createTopic(t, b, "secret", 1)
	if _, err := b.Append(testContext(t), "secret", 0, broker.Record{Value: []byte("s3cret")}); err != nil {
		t.Fatal(err)
	}
	return b, revoked
}

func as(user string) kgo.Opt {
	return kgo.SASL(plain.Auth{User: user, Pass: "pw"}.AsMechanism())
}

func TestLogin(t *testing.T) {
	b, revoked := doors(t, broker.Options{})
	ctx := testContext(t)
	if err := franz(t, b, as("root")).Ping(ctx); err != nil {
		t.Errorf("root: %v", err)
	}
	for name, opts := range map[string][]kgo.Opt{"without a password": nil, "refused": {as("guest")}} {
		short, cancel := context.WithTimeout(ctx, 3*time.Second)
		cl := franz(t, b, append(opts, kgo.RetryTimeout(300*time.Millisecond))...)
		if err := cl.Ping(short); err == nil {
			t.Errorf("%s: let in", name)
		}
		cancel()
	}

	// Disable idempotence, because otherwise records that were sent are never given up.
	cl := franz(t, b, as("sensor"), kgo.RecordRetries(2), kgo.DisableIdempotentWrite())
	produce := func(topic string) error {
		return cl.ProduceSync(ctx, &kgo.Record{Topic: topic, Value: []byte("x")}).FirstErr()
	}
	if err := produce("events"); err != nil {
		t.Errorf("sensor appends to its topic: %v", err)
	}
	if err := produce("secret"); !errors.Is(err, kerr.TopicAuthorizationFailed) {
		t.Errorf("sensor appends to another: %v", err)
	}
	if err := produce("nonesuch"); !errors.Is(err, kerr.TopicAuthorizationFailed) {
		t.Errorf("sensor asks whether a topic exists: %v", err)
	}
	// Requests that a client does not send by itself after a refusal.
	raw := kmsg.NewPtrProduceRequest()
	raw.Acks, raw.TimeoutMillis = -1, 1000
	rt := kmsg.NewProduceRequestTopic()
	known, err := kadm.NewClient(client(t, b)).ListTopics(ctx, "secret")
	if err != nil {
		t.Fatal(err)
	}
	rt.Topic, rt.TopicID = "secret", known["secret"].ID
	rt.Partitions = append(rt.Partitions, kmsg.NewProduceRequestTopicPartition())
	raw.Topics = append(raw.Topics, rt)
	if resp, err := raw.RequestWith(ctx, cl); err != nil || resp.Topics[0].Partitions[0].ErrorCode != kerr.TopicAuthorizationFailed.Code {
		t.Errorf("a produce past the client: %+v %v", resp, err)
	}
	adm := kadm.NewClient(cl)
	topics, err := adm.ListTopics(ctx)
	if err != nil || len(topics) != 1 || !topics.Has("events") {
		t.Errorf("sensor sees topics %v %v", topics.Names(), err)
	}

	revoked.Store(true)
	if err := produce("events"); err == nil {
		t.Error("a revoked user still appends on its connection")
	}
	if err := franz(t, b, as("root")).Ping(testContext(t)); err != nil {
		t.Errorf("root, afterwards: %v", err)
	}
}

// TestLimitedClientMayOnlyAppend checks that every request is refused to a client that may only
// append, or that its handler checks the rights; no API may be forgotten when it is added.
func TestLimitedClientMayOnlyAppend(t *testing.T) {
	b, _ := doors(t, broker.Options{})
	cl := franz(t, b, as("sensor"), kgo.RetryTimeout(300*time.Millisecond), kgo.RequestRetries(0))
	ctx := testContext(t)
	versions := ask(t, dialMemory(t, b), kmsg.NewPtrApiVersionsRequest(), 3).(*kmsg.ApiVersionsResponse)
	open := map[int16]bool{}
	for _, k := range []kmsg.Key{kmsg.ApiVersions, kmsg.SASLHandshake, kmsg.SASLAuthenticate, kmsg.Metadata, kmsg.Produce, kmsg.InitProducerID, kmsg.DescribeCluster} {
		open[k.Int16()] = true
	}
	for _, k := range versions.ApiKeys {
		if open[k.ApiKey] {
			continue
		}
		name := kmsg.NameForKey(k.ApiKey)
		broker := cl.SeedBrokers()[0]
		resp, err := broker.Request(ctx, namingSecret(kmsg.RequestForKey(k.ApiKey)))
		if err != nil {
			continue // closing the connection is a refusal, too
		}
		text := string(resp.AppendTo(nil))
		if strings.Contains(text, "s3cret") || !hasAuthorizationError(resp) {
			t.Errorf("%s: %+v", name, resp)
		}
	}
}

// namingSecret sets the topic "secret" in requests that name topics.
func namingSecret(req kmsg.Request) kmsg.Request {
	switch r := req.(type) {
	case *kmsg.FetchRequest:
		return fetchRequest("secret", 0)
	case *kmsg.ListOffsetsRequest:
		rt := kmsg.NewListOffsetsRequestTopic()
		rt.Topic, rt.Partitions = "secret", []kmsg.ListOffsetsRequestTopicPartition{{}}
		r.Topics = append(r.Topics, rt)
	case *kmsg.CreateTopicsRequest:
		r.Topics = append(r.Topics, kmsg.CreateTopicsRequestTopic{Topic: "more", NumPartitions: 1, ReplicationFactor: 1})
	case *kmsg.DeleteTopicsRequest:
		r.TopicNames = []string{"secret"}
		r.Topics = []kmsg.DeleteTopicsRequestTopic{{Topic: kmsg.StringPtr("secret")}}
	case *kmsg.DeleteRecordsRequest:
		r.Topics = []kmsg.DeleteRecordsRequestTopic{{Topic: "secret", Partitions: []kmsg.DeleteRecordsRequestTopicPartition{{Offset: -1}}}}
	case *kmsg.CreatePartitionsRequest:
		r.Topics = []kmsg.CreatePartitionsRequestTopic{{Topic: "secret", Count: 9}}
	case *kmsg.DescribeConfigsRequest:
		r.Resources = []kmsg.DescribeConfigsRequestResource{{ResourceType: kmsg.ConfigResourceTypeTopic, ResourceName: "secret"}}
	case *kmsg.AlterConfigsRequest:
		r.Resources = []kmsg.AlterConfigsRequestResource{{ResourceType: kmsg.ConfigResourceTypeTopic, ResourceName: "secret"}}
	case *kmsg.IncrementalAlterConfigsRequest:
		r.Resources = []kmsg.IncrementalAlterConfigsRequestResource{{ResourceType: kmsg.ConfigResourceTypeTopic, ResourceName: "secret"}}
	case *kmsg.FindCoordinatorRequest:
		r.CoordinatorKey, r.CoordinatorKeys = "g", []string{"g"}
	}
	return req
}

// hasAuthorizationError reports whether a response contains an authorization error.
func hasAuthorizationError(resp kmsg.Response) bool {
	return hasCode(reflect.ValueOf(resp), kerr.TopicAuthorizationFailed.Code, kerr.GroupAuthorizationFailed.Code, kerr.ClusterAuthorizationFailed.Code)
}

func hasCode(v reflect.Value, codes ...int16) bool {
	switch v.Kind() {
	case reflect.Pointer:
		return !v.IsNil() && hasCode(v.Elem(), codes...)
	case reflect.Slice:
		for i := range v.Len() {
			if hasCode(v.Index(i), codes...) {
				return true
			}
		}
	case reflect.Struct:
		if f := v.FieldByName("ErrorCode"); f.IsValid() && slices.Contains(codes, int16(f.Int())) {
			return true
		}
		for i := range v.NumField() {
			if v.Type().Field(i).IsExported() && hasCode(v.Field(i), codes...) {
				return true
			}
		}
	}
	return false
}

func dialMemory(t *testing.T, b *broker.Broker) net.Conn {
	t.Helper()
	c, err := b.Dial(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { c.Close() })
	return c
}

// TestLoginBesideUsers checks that configured users and users that log in work side by side, and
// that a configured user cannot authenticate by the mechanism of the others.
func TestLoginBesideUsers(t *testing.T) {
	c, err := broker.NewCredential("pw")
	if err != nil {
		t.Fatal(err)
	}
	b, _ := doors(t, broker.Options{SASL: broker.SASLOptions{Users: map[string]broker.Credential{"ann": c}, Mechanisms: []string{broker.MechanismScramSHA256}}})
	for name, m := range map[string]kgo.Opt{"ann": kgo.SASL(scram.Auth{User: "ann", Pass: "pw"}.AsSha256Mechanism()), "root": as("root")} {
		if err := franz(t, b, m).Ping(testContext(t)); err != nil {
			t.Errorf("%s: %v", name, err)
		}
	}
	ctx, cancel := context.WithTimeout(testContext(t), 3*time.Second)
	defer cancel()
	if err := franz(t, b, as("ann"), kgo.RetryTimeout(300*time.Millisecond)).Ping(ctx); err == nil {
		t.Error("ann came in by PLAIN")
	}
}

// selfSigned returns a certificate for 127.0.0.1, and a pool and a file that trust it.
func selfSigned(t *testing.T) (cert tls.Certificate, caFile string, pool *x509.CertPool) {
	t.Helper()
	key, err := ecdsa.GenerateKey(elliptic.P256(), rand.Reader)
	if err != nil {
		t.Fatal(err)
	}
	template := &x509.Certificate{
		SerialNumber: big.NewInt(1), NotBefore: time.Now().Add(-time.Hour), NotAfter: time.Now().Add(time.Hour),
		IPAddresses: []net.IP{net.IPv4(127, 0, 0, 1)}, IsCA: true, BasicConstraintsValid: true,
	}
	der, err := x509.CreateCertificate(rand.Reader, template, template, &key.PublicKey, key)
	if err != nil {
		t.Fatal(err)
	}
	caPEM := pem.EncodeToMemory(&pem.Block{Type: "CERTIFICATE", Bytes: der})
	caFile = filepath.Join(t.TempDir(), "ca.pem")
	if err := os.WriteFile(caFile, caPEM, 0o600); err != nil {
		t.Fatal(err)
	}
	pool = x509.NewCertPool()
	pool.AppendCertsFromPEM(caPEM)
	return tls.Certificate{Certificate: [][]byte{der}, PrivateKey: key}, caFile, pool
}

func TestTLS(t *testing.T) {
	cert, _, pool := selfSigned(t)
	b, _ := doors(t, broker.Options{TLS: &tls.Config{Certificates: []tls.Certificate{cert}}})
	ctx := testContext(t)
	trusting := kgo.Dialer((&tls.Dialer{Config: &tls.Config{RootCAs: pool}}).DialContext)
	cl := franz(t, b, as("root"), trusting, kgo.ConsumeTopics("events"))
	if err := cl.ProduceSync(ctx, &kgo.Record{Topic: "events", Value: make([]byte, 900_000)}).FirstErr(); err != nil {
		t.Fatal(err)
	}
	if got := cl.PollFetches(ctx); got.Err() != nil || got.NumRecords() != 1 {
		t.Errorf("read %d records, %v", got.NumRecords(), got.Err())
	}
	// Clients that do not speak TLS, or stop in the middle of the handshake, are disconnected.
	b, _ = doors(t, broker.Options{TLS: &tls.Config{Certificates: []tls.Certificate{cert}}, FrameTimeout: 2 * time.Second})
	for name, send := range map[string][]byte{
		"a client without TLS": frame(kmsg.NewPtrApiVersionsRequest(), 0),
		"half a greeting":      {0x16, 3, 1, 2, 0, 1},
		"nothing":              nil,
	} {
		c := dialRaw(t, b)
		// On a slow machine the connection may be closed before this.
		if _, err := c.Write(send); err == nil && !closes(c) {
			t.Errorf("%s: the connection stays open", name)
		}
	}
}

func TestKcatTLS(t *testing.T) {
	cert, ca, _ := selfSigned(t)
	b, _ := doors(t, broker.Options{TLS: &tls.Config{Certificates: []tls.Certificate{cert}}})
	if out, stderr, err := kcat(t, "", "-L", "-b", b.Addr(), "-X", "security.protocol=SASL_SSL", "-X", "ssl.ca.location="+ca,
		"-X", "sasl.mechanisms=PLAIN", "-X", "sasl.username=root", "-X", "sasl.password=pw"); err != nil || !strings.Contains(out, "events") {
		t.Errorf("kcat: %v\n%s%s", err, out, stderr)
	}
}
