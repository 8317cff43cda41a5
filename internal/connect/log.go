package connect

import (
	"context"
	"crypto/tls"
	"errors"
	"fmt"
	"log/slog"

	"github.com/recountdb/recount/internal/usage"
	"github.com/recountdb/recount/pipeline"
	"github.com/recountdb/recount/pipeline/broker"
	"github.com/recountdb/recount/server/access"
	"github.com/recountdb/recount/server/node"
)

// WithLog opens the log itself: the server's by Kafka's protocol, or that of the data directory,
// which it creates only if making is true.
func (con *Connector) WithLog(ctx context.Context, making bool, fn func(l *pipeline.Log) error) (err error) {
	cfg, err := con.NodeConfig()
	if err != nil {
		return err
	}
	if con.ServerURL() != "" && len(cfg.Kafka.Brokers) == 0 {
		return usage.Errorf("--server cannot read the log, which needs Kafka's protocol: set kafka.brokers in the config")
	}
	brokers, k := cfg.Kafka.Brokers, cfg.Kafka
	if len(brokers) == 0 {
		if !making {
			var done func() error
			if cfg, done, err = con.ToRead(cfg); err != nil {
				return err
			}
			defer func() { err = errors.Join(err, done()) }()
		}
		b, err := con.Open(ctx, cfg, DefaultWait, AppendOnly...)
		if err != nil {
			return err
		}
		if b.Local != nil {
			defer func() { err = errors.Join(err, b.Close()) }()
			return fn(b.Local.Log())
		}
		e, err := node.ReadEndpoints(cfg.DataDir)
		if err != nil {
			return err
		}
		if brokers = e.Brokers; len(brokers) == 0 {
			if e.Kafka == "" {
				return fmt.Errorf("the server (pid %d) does not listen for Kafka clients: start it without --kafka none", e.PID)
			}
			brokers = []string{e.Kafka}
			k.TLS.Enabled = e.KafkaTLS
			if k.SASL.Mechanism == "" && e.TokenNeeded {
				token, err := e.Token(con.Getenv)
				if err != nil {
					return err
				}
				k.SASL = node.SASLConfig{Mechanism: broker.MechanismPlain, User: access.OperatorName, Password: token}
			}
		}
	}
	l, err := pipeline.Open(ctx, pipeline.Config{
		Brokers: brokers, Prefix: k.Prefix, Partitions: k.Partitions, ReplicationFactor: k.ReplicationFactor,
		SASL:   pipeline.SASL{Mechanism: k.SASL.Mechanism, User: k.SASL.User, Password: k.SASL.Password},
		TLS:    pipeline.TLS{Enabled: k.TLS.Enabled, CAFile: k.TLS.CAFile, CertFile: k.TLS.CertFile, KeyFile: k.TLS.KeyFile, ServerName: k.TLS.ServerName},
		Logger: slog.New(slog.NewTextHandler(con.Err, &slog.HandlerOptions{Level: slog.LevelWarn})),
	})
	if err != nil {
		if k.TLS.Enabled && errors.As(err, new(*tls.CertificateVerificationError)) {
			err = fmt.Errorf("%w; set SSL_CERT_FILE, or kafka.tls.ca_file in the config, to the certificate of the broker's authority or of the broker", err)
		}
		return err
	}
	defer func() { err = errors.Join(err, l.Close()) }()
	return fn(l)
}
