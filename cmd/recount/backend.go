package main

import (
	"context"
	"crypto/tls"
	"crypto/x509"
	"errors"
	"fmt"
	"log/slog"
	"os"
	"strings"
	"time"

	"github.com/recountdb/recount/internal/redact"
	"github.com/recountdb/recount/internal/render"
	"github.com/recountdb/recount/pipeline"
	"github.com/recountdb/recount/pipeline/broker"
	"github.com/recountdb/recount/server/access"
	"github.com/recountdb/recount/server/api"
	"github.com/recountdb/recount/server/httpapi"
	"github.com/recountdb/recount/server/node"
)

// connector connects a verb to the data: to the server that uses the data directory, or to the
// directory itself.
type connector struct {
	*render.Terminal
	// getenv returns the value of an environment variable.
	getenv func(string) string
	// version is that of the program.
	version string

	// The global flags.
	dataDir, config, server string
	insecureHTTP            bool
}

// backend answers a verb: a running server, or a node opened only for this verb.
type backend struct {
	api.Backend
	local *node.Node // nil if a server answers
}

// Close releases the data directory.
func (b *backend) Close() error {
	if b.local == nil {
		return nil
	}
	return b.local.Close()
}

// nodeConfig returns the config file overridden by the global flags.
func (con *connector) nodeConfig() (node.Config, error) {
	var cfg node.Config
	var err error
	if path := con.configPath(); path != "" {
		if cfg, err = node.LoadConfig(path); err != nil {
			return cfg, err
		}
	}
	if cfg.DataDir == "" || con.dataDir != "" || con.getenv("RECOUNT_DATA_DIR") != "" {
		if cfg.DataDir, err = con.dataPath(); err != nil {
			return cfg, err
		}
	}
	cfg.Version = con.version
	return cfg, nil
}

// redactor returns the redactor of the config: a verb redacts before any data leaves the process.
func redactor(cfg node.Config) (*redact.Redactor, error) {
	if cfg.RedactRules == "" {
		return redact.Default(), nil
	}
	o, err := redact.Load(cfg.RedactRules)
	if err != nil {
		return nil, err
	}
	return redact.New(o)
}

// The wait for a data directory that another short-lived process uses.
const (
	defaultWait = 15 * time.Second
	firstPause  = 5 * time.Millisecond
	longPause   = 250 * time.Millisecond
)

// open connects to the server of the data directory, or else opens the directory. roles are those
// of a node opened here; none means all. If another process uses the directory, it retries for up
// to wait.
func (con *connector) open(ctx context.Context, cfg node.Config, wait time.Duration, roles ...string) (*backend, error) {
	deadline := time.Now().Add(wait)
	said := time.Now().Add(con.Silence)
	for pause := firstPause; ; pause = min(2*pause, longPause) {
		b, err := con.tryOpenOrServer(ctx, cfg, roles)
		var busy *node.InUseError
		if err == nil || !errors.As(err, &busy) || time.Now().Add(pause).After(deadline) {
			return b, err
		}
		if now := time.Now(); now.After(said) && wait >= defaultWait {
			said = deadline // report only once
			con.Tell(holder(busy))
		}
		select {
		case <-ctx.Done():
			return nil, ctx.Err()
		case <-time.After(pause):
		}
	}
}

// tryOpenOrServer returns the server that the user named, or else the result of tryOpen. Spooled
// commands are appended first, so that answers include them.
func (con *connector) tryOpenOrServer(ctx context.Context, cfg node.Config, roles []string) (*backend, error) {
	url := con.serverURL()
	if url == "" {
		b, err := con.tryOpen(ctx, cfg, roles)
		switch {
		case err != nil:
		case b.local == nil:
			awaitSpool(ctx, cfg)
		case b.local.SpoolFault() != nil:
			fmt.Fprintf(con.Err, "recount: %s\n", b.local.SpoolFault())
		}
		return b, err
	}
	c, err := con.elsewhere(url)
	if err != nil {
		return nil, err
	}
	if err := con.sendSpooled(ctx, cfg, url, c); err != nil {
		fmt.Fprintf(con.Err, "recount: %s: %s; what waits for it stays in the spool\n", url, err)
	}
	return &backend{Backend: c}, nil
}

// elsewhere returns a client of the server at a URL that the user named.
func (con *connector) elsewhere(url string) (*httpapi.Client, error) {
	token := con.getenv("RECOUNT_TOKEN")
	if err := httpapi.CheckToken(url, token); err != nil && !con.insecureHTTP && con.getenv("RECOUNT_INSECURE_HTTP") == "" {
		return nil, usagef("%w; name it by https://, or say --insecure-http (RECOUNT_INSECURE_HTTP=1) if something else encrypts", err)
	}
	c, err := httpapi.NewClient(url, token, nil)
	if err != nil {
		return nil, asUsage(err)
	}
	return c, nil
}

func (con *connector) serverURL() string {
	if con.server != "" {
		return con.server
	}
	return con.getenv("RECOUNT_SERVER")
}

func (con *connector) tryOpen(ctx context.Context, cfg node.Config, roles []string) (*backend, error) {
	e, running, err := node.Running(cfg.DataDir)
	if err != nil {
		return nil, err
	}
	if running {
		c, err := con.client(ctx, cfg, e)
		if err != nil {
			return nil, err
		}
		return &backend{Backend: c}, nil
	}
	if len(roles) > 0 && len(cfg.Kafka.Brokers) == 0 {
		cfg.Roles = roles
	} else {
		cfg.Roles = nil
	}
	n, err := node.OpenLocal(ctx, cfg, con.Progress())
	if err != nil {
		return nil, err
	}
	return &backend{Backend: n, local: n}, nil
}

// client returns a client of the server that uses the data directory. After a crash, endpoints.json
// may name an address that another program uses by now, so the server must confirm the directory's
// id.
func (con *connector) client(ctx context.Context, cfg node.Config, e node.Endpoints) (*httpapi.Client, error) {
	busy := &node.InUseError{Dir: cfg.DataDir, PID: e.PID, HTTP: e.HTTP}
	if e.HTTP == "" {
		return nil, busy
	}
	token, err := con.token(e)
	if err != nil {
		return nil, err
	}
	c, err := httpapi.NewClient(e.HTTP, token, nil)
	if err != nil {
		return nil, err
	}
	stop := con.UnlessSoon(func() string { return fmt.Sprintf("waiting for the server at %s (pid %d)", e.HTTP, e.PID) })
	within, cancel := context.WithTimeout(ctx, statusPatience)
	st, err := c.Status(within, api.StatusRequest{})
	cancel()
	stop()
	if err != nil {
		if ctx.Err() == nil && within.Err() != nil && errors.Is(err, context.DeadlineExceeded) {
			return nil, hung(e)
		}
		var answered *httpapi.APIError
		if errors.As(err, &answered) {
			return nil, fmt.Errorf("server at %s: %w", e.HTTP, err)
		}
		var untrusted *tls.CertificateVerificationError
		if errors.As(err, &untrusted) {
			return nil, distrust(e.HTTP, untrusted)
		}
		return nil, busy // the server is starting, stopping or gone: try again
	}
	if st.DataID != e.DataID {
		return nil, busy
	}
	return c, nil
}

// token returns the token for the server of the data directory.
func (con *connector) token(e node.Endpoints) (string, error) {
	token := con.getenv("RECOUNT_TOKEN")
	if token != "" || e.TokenFile == "" {
		return token, nil
	}
	if err := access.CheckSecretFile(e.TokenFile); err != nil {
		return "", err
	}
	b, err := os.ReadFile(e.TokenFile)
	if err != nil {
		return "", fmt.Errorf("the token of the server at %s: %w; or set RECOUNT_TOKEN", e.HTTP, err)
	}
	line, _, _ := strings.Cut(string(b), "\n")
	return strings.TrimSpace(line), nil
}

// distrust returns an error that says how to fix an untrusted server certificate.
func distrust(server string, err *tls.CertificateVerificationError) error {
	mend := "set SSL_CERT_FILE to the certificate of its authority, or to its own"
	if errors.As(err, new(x509.HostnameError)) {
		mend = "ask it by a name that the certificate has: RECOUNT_SERVER=https://NAME:PORT"
	}
	return fmt.Errorf("server at %s: %w; %s", server, err, mend)
}

// withBackend opens a backend for reading and closes it after fn.
func (con *connector) withBackend(ctx context.Context, fn func(b *backend) error) (err error) {
	return con.withBackendFor(ctx, con.toRead, fn)
}

// withBackendFor opens a backend and closes it after fn. purpose is toRead, toWrite or toKeep and
// decides whether the data directory is created.
func (con *connector) withBackendFor(ctx context.Context, purpose func(node.Config) (node.Config, func() error, error), fn func(b *backend) error) (err error) {
	cfg, err := con.nodeConfig()
	if err != nil {
		return err
	}
	cfg, done, err := purpose(cfg)
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, done()) }()
	b, err := con.open(ctx, cfg, defaultWait)
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, b.Close()) }()
	if b.local == nil {
		defer con.UnlessSoon(func() string { return "waiting for the answer of the server" })()
	}
	return fn(b)
}

// withLog opens the log itself: the server's by Kafka's protocol, or that of the data directory,
// which it creates only if making is true.
func (con *connector) withLog(ctx context.Context, making bool, fn func(l *pipeline.Log) error) (err error) {
	cfg, err := con.nodeConfig()
	if err != nil {
		return err
	}
	if con.serverURL() != "" && len(cfg.Kafka.Brokers) == 0 {
		return usagef("the log is read by Kafka's protocol, not by --server: name kafka.brokers in the config")
	}
	brokers, k := cfg.Kafka.Brokers, cfg.Kafka
	if len(brokers) == 0 {
		if !making {
			var done func() error
			if cfg, done, err = con.toRead(cfg); err != nil {
				return err
			}
			defer func() { err = errors.Join(err, done()) }()
		}
		b, err := con.open(ctx, cfg, defaultWait, appendOnly...)
		if err != nil {
			return err
		}
		if b.local != nil {
			defer func() { err = errors.Join(err, b.Close()) }()
			return fn(b.local.Log())
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
				token, err := con.token(e)
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
			err = fmt.Errorf("%w; set SSL_CERT_FILE, or kafka.tls.ca_file in the config, to the certificate of the broker's authority, or to its own", err)
		}
		return err
	}
	defer func() { err = errors.Join(err, l.Close()) }()
	return fn(l)
}
