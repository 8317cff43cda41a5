package pipeline

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"net"
	"strings"
	"time"

	"github.com/twmb/franz-go/pkg/kerr"
	"github.com/twmb/franz-go/pkg/kgo"
	"github.com/twmb/franz-go/pkg/sasl/plain"
	"github.com/twmb/franz-go/pkg/sasl/scram"

	"github.com/recountdb/recount/schemas"
)

// endpoint describes how to reach a log; every client is built from it.
type endpoint struct {
	brokers []string
	// dial connects to the embedded broker in memory. Nil means TCP.
	dial func(ctx context.Context) (net.Conn, error)
	cfg  Config
}

// options returns the options that all clients have in common.
func (e endpoint) options() ([]kgo.Opt, error) {
	opts := []kgo.Opt{
		kgo.SeedBrokers(e.brokers...),
		kgo.ClientID(e.cfg.ClientID),
		kgo.WithLogger(clientLogger{e.cfg.Logger}),
		kgo.DisableClientMetrics(),
		// Topics are used immediately after they are created; with the client's default, five
		// seconds of cached metadata would mean five seconds of "no such topic".
		kgo.MetadataMinAge(50 * time.Millisecond),
		// This fits an event and the batch around it, and larger answers from other brokers.
		kgo.BrokerMaxReadBytes(int32(max(100<<20, 2*e.cfg.MaxEventBytes))),
	}
	if e.dial != nil {
		return append(opts, kgo.Dialer(func(ctx context.Context, _, _ string) (net.Conn, error) {
			return e.dial(ctx)
		})), nil
	}
	switch strings.ToUpper(e.cfg.SASL.Mechanism) {
	case "PLAIN":
		opts = append(opts, kgo.SASL(plain.Auth{User: e.cfg.SASL.User, Pass: e.cfg.SASL.Password}.AsMechanism()))
	case "SCRAM-SHA-256":
		opts = append(opts, kgo.SASL(scram.Auth{User: e.cfg.SASL.User, Pass: e.cfg.SASL.Password}.AsSha256Mechanism()))
	case "SCRAM-SHA-512":
		opts = append(opts, kgo.SASL(scram.Auth{User: e.cfg.SASL.User, Pass: e.cfg.SASL.Password}.AsSha512Mechanism()))
	}
	tls, err := e.cfg.TLS.config()
	if err != nil {
		return nil, err
	}
	if tls != nil {
		opts = append(opts, kgo.DialTLSConfig(tls))
	}
	return opts, nil
}

// client returns a new client of the log.
func (e endpoint) client(more ...kgo.Opt) (*kgo.Client, error) {
	opts, err := e.options()
	if err != nil {
		return nil, err
	}
	cl, err := kgo.NewClient(append(opts, more...)...)
	if err != nil {
		return nil, fmt.Errorf("kafka client: %w", err)
	}
	return cl, nil
}

// classify assigns a client's error to one of the three classes. An error that is not known to be
// permanent is transient.
func classify(err error) error {
	switch {
	case err == nil:
		return nil
	case errors.Is(err, schemas.ErrTransient), errors.Is(err, schemas.ErrPoison), errors.Is(err, schemas.ErrFatal):
		return err
	case errors.Is(err, kerr.MessageTooLarge), errors.Is(err, kerr.RecordListTooLarge),
		errors.Is(err, kerr.InvalidRecord), errors.Is(err, kerr.InvalidTimestamp),
		errors.Is(err, kerr.InvalidTopicException), errors.Is(err, kerr.UnknownTopicOrPartition),
		errors.Is(err, kerr.UnknownTopicID):
		return schemas.Poisonf("%w", err)
	case errors.Is(err, kgo.ErrClientClosed):
		return schemas.Fatalf("the log is closed: %w", err)
	default:
		return schemas.Transientf("%w", err)
	}
}

// clientLogger forwards the client's warnings and errors. Lower levels concern only the client's
// internals.
type clientLogger struct{ log *slog.Logger }

func (l clientLogger) Level() kgo.LogLevel { return kgo.LogLevelWarn }

func (l clientLogger) Log(level kgo.LogLevel, msg string, keyvals ...any) {
	to := slog.LevelWarn
	if level == kgo.LogLevelError {
		to = slog.LevelError
	}
	l.log.Log(context.Background(), to, "kafka client: "+msg, keyvals...)
}
