package node

import (
	"context"
	"crypto/tls"
	"errors"
	"fmt"
	"log/slog"
	"net"
	"net/http"
	"time"

	"golang.org/x/net/netutil"
	"google.golang.org/grpc"
	"google.golang.org/grpc/credentials"

	"github.com/recountdb/recount/internal/spans"
	"github.com/recountdb/recount/server/httpapi"
	"github.com/recountdb/recount/server/otlp"
)

// maxSpanConnections is the maximum number of connections of each receiver of spans.
const maxSpanConnections = 1024

// otlpServers are the OTLP receivers: nil if they are switched off or the node does not have the role
// ingest.
type otlpServers struct {
	grpcListener, httpListener net.Listener
	grpc                       *grpc.Server
	http                       *http.Server
}

// listen binds the receivers' ports.
func (d *otlpServers) listen(ctx context.Context, cfg Config) (err error) {
	if !cfg.Has(RoleIngest) {
		return nil
	}
	for _, r := range []struct {
		addr, field, flag string
		into              *net.Listener
	}{
		{cfg.OTLP.GRPC, "otlp.grpc", "--otlp-grpc", &d.grpcListener},
		{cfg.OTLP.HTTP, "otlp.http", "--otlp-http", &d.httpListener},
	} {
		if r.addr == noListener {
			continue
		}
		l, err := listen(ctx, r.addr, r.field+" ("+r.flag+")", "choose another port, :0 for any free one, or none to receive no spans there")
		if err != nil {
			return err
		}
		*r.into = l
	}
	return nil
}

// open creates the servers.
func (d *otlpServers) open(n *Node) error {
	if d.grpcListener == nil && d.httpListener == nil {
		return nil
	}
	h := n.cfg.HTTP
	r := otlp.New(otlp.Options{
		Append: n.app.Append,
		Split:  spans.Splitter{Redact: n.app.intake.Redact, MaxEvent: httpapi.MaxEvent},
		Gate:   n.tokens, Hosts: h.Hosts,
		MaxRequest: n.cfg.OTLP.MaxRequestBytes, MaxInFlight: n.cfg.OTLP.MaxInFlightBytes,
		Log: n.cfg.Logger, Registry: n.reg,
	})
	var config *tls.Config
	if h.CertFile != "" {
		cert, err := tls.LoadX509KeyPair(h.CertFile, h.KeyFile)
		if err != nil {
			return fmt.Errorf("http.tls_cert: %w", err)
		}
		config = &tls.Config{MinVersion: tls.VersionTLS12, Certificates: []tls.Certificate{cert}}
	}
	if d.grpcListener != nil {
		var creds credentials.TransportCredentials
		if config != nil {
			creds = credentials.NewTLS(config)
		}
		d.grpc = r.GRPC(creds)
	}
	if d.httpListener != nil {
		d.http = &http.Server{
			Handler:           r.HTTP(),
			TLSConfig:         config,
			ReadHeaderTimeout: 5 * time.Second,
			ReadTimeout:       60 * time.Second,
			WriteTimeout:      120 * time.Second,
			IdleTimeout:       120 * time.Second,
			MaxHeaderBytes:    64 << 10,
			ErrorLog:          slog.NewLogLogger(n.cfg.Logger.Handler(), slog.LevelDebug),
		}
	}
	return nil
}

// serve passes each server's loop to run and returns at once.
func (d *otlpServers) serve(run func(func() error)) {
	if d.grpc != nil {
		run(func() error {
			err := d.grpc.Serve(netutil.LimitListener(d.grpcListener, maxSpanConnections))
			if err != nil && !errors.Is(err, grpc.ErrServerStopped) {
				return fmt.Errorf("serve otlp over grpc: %w", err)
			}
			return nil
		})
	}
	if d.http != nil {
		run(func() error {
			l := netutil.LimitListener(d.httpListener, maxSpanConnections)
			var err error
			if d.http.TLSConfig != nil {
				err = d.http.ServeTLS(l, "", "")
			} else {
				err = d.http.Serve(l)
			}
			if errors.Is(err, http.ErrServerClosed) {
				return nil
			}
			return fmt.Errorf("serve otlp over http: %w", err)
		})
	}
}

// shutdown waits until running requests end, or ctx does.
func (d *otlpServers) shutdown(ctx context.Context) error {
	var err error
	if d.http != nil {
		if err = d.http.Shutdown(ctx); err != nil {
			err = errors.Join(err, d.http.Close())
		}
	}
	if d.grpc != nil {
		stopped := make(chan struct{})
		go func() {
			d.grpc.GracefulStop()
			close(stopped)
		}()
		select {
		case <-stopped:
		case <-ctx.Done():
			d.grpc.Stop() // also ends GracefulStop
			<-stopped
			err = errors.Join(err, ctx.Err())
		}
	}
	return err
}

// close closes the listeners, also of servers that never served.
func (d *otlpServers) close() error {
	var errs []error
	for _, l := range []net.Listener{d.grpcListener, d.httpListener} {
		if l != nil {
			if err := l.Close(); !errors.Is(err, net.ErrClosed) {
				errs = append(errs, err)
			}
		}
	}
	return errors.Join(errs...)
}

// endpoints sets the addresses of the receivers.
func (d *otlpServers) endpoints(e *Endpoints, tls bool) {
	if d.grpcListener != nil {
		e.OTLPGRPC = d.grpcListener.Addr().String()
	}
	if d.httpListener != nil {
		scheme := "http"
		if tls {
			scheme = "https"
		}
		e.OTLPHTTP = scheme + "://" + d.httpListener.Addr().String()
	}
}
