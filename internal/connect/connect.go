package connect

import (
	"context"
	"crypto/tls"
	"crypto/x509"
	"errors"
	"fmt"
	"time"

	"github.com/recountdb/recount/internal/datadir"
	"github.com/recountdb/recount/internal/render"
	"github.com/recountdb/recount/internal/usage"
	"github.com/recountdb/recount/server/api"
	"github.com/recountdb/recount/server/httpapi"
	"github.com/recountdb/recount/server/node"
)

// Connector connects a verb to the data: to the server that uses the data directory, or to the
// directory itself.
type Connector struct {
	*render.Terminal
	// Getenv returns the value of an environment variable.
	Getenv func(string) string
	// Version is that of the program.
	Version string

	// DataDir, Config and Server are the global flags for the data directory, the config file and the
	// server's URL; "" means the environment, or the default.
	DataDir, Config, Server string
	// InsecureHTTP allows the token to be sent to a server elsewhere by http://.
	InsecureHTTP bool

	// Patience raises the limits of this package, after which a verb does without an answer, or gives
	// up. Zero leaves them; tests raise them, because a machine may be slow.
	Patience time.Duration
}

// Backend answers a verb: a running server, or a node opened only for this verb.
type Backend struct {
	api.Backend
	Local *node.Node // nil if a server answers

	then api.Status // how the server of the data directory stood when it was found
}

// Close releases the data directory.
func (b *Backend) Close() error {
	if b.Local == nil {
		return nil
	}
	return b.Local.Close()
}

const (
	// DefaultWait is how long Open waits for a data directory that another short-lived process uses.
	DefaultWait = 15 * time.Second
	firstPause  = 5 * time.Millisecond
	// LongPause is the longest pause between two tries of Open.
	LongPause = 250 * time.Millisecond
)

// Open connects to the server of the data directory, or else opens the directory. roles are those
// of a node opened here; none means all. If another process uses the directory, it retries for up
// to wait.
func (con *Connector) Open(ctx context.Context, cfg node.Config, wait time.Duration, roles ...string) (*Backend, error) {
	deadline := time.Now().Add(max(wait, con.Patience))
	said := time.Now().Add(con.Silence)
	for pause := firstPause; ; pause = min(2*pause, LongPause) {
		b, err := con.tryOpenOrServer(ctx, cfg, roles)
		var busy *node.InUseError
		if err == nil || !errors.As(err, &busy) || time.Now().Add(pause).After(deadline) {
			return b, err
		}
		if now := time.Now(); now.After(said) && wait >= DefaultWait {
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
func (con *Connector) tryOpenOrServer(ctx context.Context, cfg node.Config, roles []string) (*Backend, error) {
	url := con.ServerURL()
	if url == "" {
		b, err := con.tryOpen(ctx, cfg, roles)
		switch {
		case err != nil:
		case b.Local == nil:
			con.awaitSpool(ctx, cfg)
		case b.Local.SpoolFault() != nil:
			con.Tell(b.Local.SpoolFault().Error())
		}
		return b, err
	}
	c, err := con.Elsewhere(url)
	if err != nil {
		return nil, err
	}
	if err := con.SendSpooled(ctx, cfg, url, c); err != nil {
		con.Tell(fmt.Sprintf("%s: %s; its commands stay in the spool", url, err))
	}
	return &Backend{Backend: c}, nil
}

// Elsewhere returns a client of the server at a URL that the user named.
func (con *Connector) Elsewhere(url string) (*httpapi.Client, error) {
	token := con.Getenv("RECOUNT_TOKEN")
	if err := httpapi.CheckToken(url, token); err != nil && !con.InsecureHTTP && con.Getenv("RECOUNT_INSECURE_HTTP") == "" {
		return nil, usage.Errorf("%w; use https://, or --insecure-http (RECOUNT_INSECURE_HTTP=1) if the connection is encrypted in another way", err)
	}
	c, err := httpapi.NewClient(url, token, nil)
	if err != nil {
		return nil, usage.Wrap(err)
	}
	return c, nil
}

// ServerURL returns the URL of the server that the user named, "" if none.
func (con *Connector) ServerURL() string {
	if con.Server != "" {
		return con.Server
	}
	return con.Getenv("RECOUNT_SERVER")
}

func (con *Connector) tryOpen(ctx context.Context, cfg node.Config, roles []string) (*Backend, error) {
	e, running, err := datadir.Running(cfg.DataDir)
	if err != nil {
		return nil, err
	}
	if running {
		c, st, err := con.identify(ctx, cfg, e)
		if err != nil {
			return nil, err
		}
		return &Backend{Backend: c, then: st}, nil
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
	return &Backend{Backend: n, Local: n}, nil
}

// Client returns a client of the server that uses the data directory. After a crash, endpoints.json
// may name an address that another program uses by now, so the server must confirm the directory's
// id.
func (con *Connector) Client(ctx context.Context, cfg node.Config, e node.Endpoints) (*httpapi.Client, error) {
	c, _, err := con.identify(ctx, cfg, e)
	return c, err
}

// identify is Client, with the status by which the server confirmed the id.
func (con *Connector) identify(ctx context.Context, cfg node.Config, e node.Endpoints) (*httpapi.Client, api.Status, error) {
	var st api.Status
	busy := &node.InUseError{Dir: cfg.DataDir, PID: e.PID, HTTP: e.HTTP}
	if e.HTTP == "" {
		return nil, st, busy
	}
	token, err := e.Token(con.Getenv)
	if err != nil {
		return nil, st, err
	}
	c, err := httpapi.NewClient(e.HTTP, token, nil)
	if err != nil {
		return nil, st, err
	}
	stop := con.UnlessSoon(func() string { return fmt.Sprintf("waiting for the server at %s (pid %d)", e.HTTP, e.PID) })
	within, cancel := context.WithTimeout(ctx, max(statusPatience, con.Patience))
	st, err = c.Status(within, api.StatusRequest{})
	cancel()
	stop()
	if err != nil {
		if ctx.Err() == nil && within.Err() != nil && errors.Is(err, context.DeadlineExceeded) {
			return nil, st, hung(e)
		}
		var answered *httpapi.APIError
		if errors.As(err, &answered) {
			return nil, st, fmt.Errorf("server at %s: %w", e.HTTP, err)
		}
		var untrusted *tls.CertificateVerificationError
		if errors.As(err, &untrusted) {
			return nil, st, distrust(e.HTTP, untrusted)
		}
		return nil, st, busy // the server is starting, stopping or gone: try again
	}
	if st.DataID != e.DataID {
		return nil, st, busy
	}
	return c, st, nil
}

// distrust returns an error that says how to fix an untrusted server certificate.
func distrust(server string, err *tls.CertificateVerificationError) error {
	mend := "set SSL_CERT_FILE to the certificate of its authority or of the server"
	if errors.As(err, new(x509.HostnameError)) {
		mend = "use a name that the certificate has: RECOUNT_SERVER=https://NAME:PORT"
	}
	return fmt.Errorf("server at %s: %w; %s", server, err, mend)
}

// statusPatience is how long the server of a data directory may take to identify itself.
const statusPatience = 15 * time.Second

// holder describes which process uses a data directory.
func holder(e *node.InUseError) string {
	if e.PID == 0 {
		return fmt.Sprintf("waiting for %s, held by another process", e.Dir)
	}
	return fmt.Sprintf("waiting for %s, held by pid %d", e.Dir, e.PID)
}

// hung returns the error about a server that uses the directory but does not answer.
func hung(e node.Endpoints) error {
	return fmt.Errorf("server at %s (pid %d): no answer within %s: it hangs or is stopped; end it (kill %d) and start it again", e.HTTP, e.PID, statusPatience, e.PID)
}
