package streams

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"sync"

	"github.com/prometheus/client_golang/prometheus"
	// Benthos' own inputs, outputs and processors, for configs that use them.
	_ "github.com/redpanda-data/benthos/v4/public/components/io"
	_ "github.com/redpanda-data/benthos/v4/public/components/pure"
	"github.com/redpanda-data/benthos/v4/public/service"

	"github.com/recountdb/recount/pipeline"
	"github.com/recountdb/recount/schemas"
)

// Plugins holds what the Benthos plugins of one process share. If a plugin needs a field that is
// not set, its stream fails to start with an error that says so.
type Plugins struct {
	// Log opens the log that plugins use if seed_brokers is empty. It is called at most once
	// successfully, when a stream starts that needs it.
	Log func(context.Context) (*pipeline.Log, error)
	// Target opens what recount_project applies to. It is called at most once successfully.
	Target func(context.Context) (pipeline.Target, error)
	// Register adds the plugins of other packages, which are the processors.
	Register []func(*service.Environment) error
	// Metrics, if not nil, is where recount_prometheus registers its metrics.
	Metrics prometheus.Registerer
	// CheckpointDir is the directory in which inputs with start_from: checkpoint store their
	// position.
	CheckpointDir string
	// Logger receives warnings and errors. The default discards them.
	Logger *slog.Logger
	// Fatal is called with errors of class ErrFatal, after which no plugin continues. The caller is
	// expected to stop the stream.
	Fatal func(error)
}

// shared is the running state of Plugins.
type shared struct {
	Plugins
	log    once[*pipeline.Log]
	target once[pipeline.Target]
	meters *meters
	// stopping ends the input when it ends: batches in flight are written, and the stream then ends
	// by itself.
	stopping context.Context

	// applying is held for reading while a batch is applied; closed means that nothing may be
	// applied any more.
	applying sync.RWMutex
	closed   bool
}

// close waits for batches that are being applied and refuses later ones.
func (s *shared) close() {
	s.applying.Lock()
	defer s.applying.Unlock()
	s.closed = true
}

func newShared(p Plugins) *shared {
	if p.Logger == nil {
		p.Logger = slog.New(slog.DiscardHandler)
	}
	if p.Fatal == nil {
		p.Fatal = func(error) {}
	}
	return &shared{Plugins: p, meters: newMeters(p.Metrics), stopping: context.Background()}
}

// once opens something and keeps it after the first success.
type once[T any] struct {
	mu   sync.Mutex
	done bool
	v    T
}

func (o *once[T]) get(ctx context.Context, what string, open func(context.Context) (T, error)) (T, error) {
	o.mu.Lock()
	defer o.mu.Unlock()
	if o.done {
		return o.v, nil
	}
	if open == nil {
		return o.v, fmt.Errorf("no %s in this process", what)
	}
	v, err := open(ctx)
	if err == nil {
		o.v, o.done = v, true
	}
	return v, err
}

func (s *shared) ownLog(ctx context.Context) (*pipeline.Log, error) {
	return s.log.get(ctx, "log: set seed_brokers", s.Log)
}

func (s *shared) projections(ctx context.Context) (pipeline.Target, error) {
	return s.target.get(ctx, "projections: run this stream by `recount up` or `recount pipeline run`", s.Target)
}

// fatal reports a fatal error to Plugins.Fatal and returns err unchanged.
func (s *shared) fatal(err error) error {
	if errors.Is(err, schemas.ErrFatal) {
		s.Fatal(err)
	}
	return err
}

// register registers all plugins in an environment.
func (s *shared) register(env *service.Environment) error {
	if err := errors.Join(
		env.RegisterBatchInput("recount_log", inputSpec(), s.newInput),
		env.RegisterBatchOutput("recount_log", outputSpec(), s.newOutput),
		env.RegisterBatchOutput("recount_project", projectSpec(), s.newProject),
		env.RegisterMetricsExporter("recount_prometheus", metricsSpec(), s.newExporter),
		s.registerConnect(env),
	); err != nil {
		return fmt.Errorf("register plugins: %w", err)
	}
	for _, f := range s.Register {
		if err := f(env); err != nil {
			return err
		}
	}
	return nil
}

// connectionFields returns the fields that describe how a plugin reaches a log, with the names that
// Redpanda Connect uses.
func connectionFields() []*service.ConfigField {
	return []*service.ConfigField{
		service.NewStringListField("seed_brokers").Default([]any{}).
			Description("Addresses of an external Kafka, each host:port or several separated by commas. Empty: the log of this process.").
			Example([]string{"redpanda:9092"}),
		service.NewStringField("client_id").Default("recount").Advanced().
			Description("The client id sent to brokers."),
		service.NewObjectField("tls",
			service.NewBoolField("enabled").Default(false),
			service.NewStringField("ca_file").Default("").Description("A PEM file of trusted authorities; empty: the system's."),
			service.NewStringField("cert_file").Default(""),
			service.NewStringField("key_file").Default(""),
			service.NewStringField("server_name").Default("").Description("The name that the broker's certificate must have."),
		).Advanced().Description("TLS for external brokers."),
		service.NewObjectField("sasl",
			service.NewStringEnumField("mechanism", "none", "PLAIN", "SCRAM-SHA-256", "SCRAM-SHA-512").Default("none"),
			service.NewStringField("username").Default(""),
			service.NewStringField("password").Default("").Secret(),
		).Advanced().Description("Authentication with external brokers."),
	}
}

// connection reads connectionFields. own is true if no brokers are given.
func connection(conf *service.ParsedConfig) (cfg pipeline.Config, own bool, err error) {
	seeds, err := conf.FieldStringList("seed_brokers")
	if err != nil {
		return cfg, false, err
	}
	cfg.Brokers = splitList(seeds)
	get := func(path ...string) string {
		s, e := conf.FieldString(path...)
		err = errors.Join(err, e)
		return s
	}
	cfg.ClientID = get("client_id")
	if m := get("sasl", "mechanism"); m != "none" {
		cfg.SASL = pipeline.SASL{Mechanism: m, User: get("sasl", "username"), Password: get("sasl", "password")}
	}
	enabled, e := conf.FieldBool("tls", "enabled")
	cfg.TLS = pipeline.TLS{
		Enabled: enabled, CAFile: get("tls", "ca_file"), CertFile: get("tls", "cert_file"),
		KeyFile: get("tls", "key_file"), ServerName: get("tls", "server_name"),
	}
	return cfg, len(cfg.Brokers) == 0, errors.Join(err, e)
}
