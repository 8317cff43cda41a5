package pipeline

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"strings"
	"time"

	"github.com/prometheus/client_golang/prometheus"
	"github.com/redpanda-data/benthos/v4/public/service"

	"github.com/recountdb/recount/schemas"
)

// CLIOptions say what `recount pipeline` works on.
type CLIOptions struct {
	// Version is the program's.
	Version string
	// Log and Target open what a config without seed_brokers, or with
	// recount_project, needs; only `run` and `streams` ask for them, once.
	Log    func(context.Context) (*Log, error)
	Target func(context.Context) (Target, error)
	// Processors adds the processors: processors/adapter.Register.
	Processors func(*service.Environment) error
	// CheckpointDir is where a stream over derived topics keeps its place.
	CheckpointDir string
	// Logger gets what a running stream has to say.
	Logger *slog.Logger
}

// CLIBind is where Benthos' own HTTP API listens, unless a config says
// otherwise: on loopback, as it can change streams and asks nobody who they are.
const CLIBind = "127.0.0.1:4195"

// cliStopWithin bounds how long a stream may take to drain.
const cliStopWithin = 10 * time.Second

// CLI runs Benthos' commands (run, lint, test, list, create, blobl, streams, …)
// with our plugins, and returns the exit code. args is what follows
// `recount pipeline`. It registers the plugins in Benthos' global environment,
// because some of its commands look nowhere else: call it once in a process, and
// end that process soon after. Benthos ends it with status 1 a second after the
// config's shutdown_timeout (20 s), counted from the end of a run, even of one
// that ended well.
func CLI(ctx context.Context, args []string, o CLIOptions) (int, error) {
	logger := o.Logger
	if logger == nil {
		logger = slog.New(slog.DiscardHandler)
	}
	logger = slog.New(limitRepeats(logger.Handler()))
	// When the caller's context ends, our inputs end, and with them the stream, in
	// order. Benthos' own context is cut off later, or at once by a fatal error.
	run, cancel := context.WithCancelCause(context.WithoutCancel(ctx))
	defer cancel(nil)
	late := make(chan struct{})
	defer close(late)
	defer context.AfterFunc(ctx, func() {
		select {
		case <-late:
		case <-time.After(cliStopWithin):
			cancel(ctx.Err())
		}
	})()
	p := Plugins{
		Log: o.Log, Target: o.Target, CheckpointDir: o.CheckpointDir, Logger: logger,
		Metrics: prometheus.NewRegistry(),
		Fatal:   func(err error) { cancel(err) },
	}
	if o.Processors != nil {
		p.Register = append(p.Register, o.Processors)
	}
	env := service.GlobalEnvironment()
	shared := newShared(p)
	shared.stopping = ctx
	defer shared.close() // nothing is applied after this call
	if err := shared.register(env); err != nil {
		return 1, err
	}
	code, err := service.RunCLIToCode(run,
		service.CLIOptSetArgs(append([]string{"recount pipeline"}, args...)...),
		service.CLIOptSetBinaryName("recount pipeline"),
		service.CLIOptSetProductName("Recount"),
		service.CLIOptSetVersion(o.Version, ""),
		service.CLIOptSetEnvironment(env),
		service.CLIOptSetMainSchemaFrom(func() *service.ConfigSchema {
			s := env.FullConfigSchema(o.Version, "")
			s.SetFieldDefault(CLIBind, "http", "address")
			// Ours is the one logger: it leaves out what only repeats itself.
			s.SetFieldDefault("OFF", "logger", "level")
			s.SetFieldDefault(map[string]any{"recount_prometheus": map[string]any{}}, "metrics")
			return s
		}),
		service.CLIOptAddTeeLogger(logger),
	)
	if cause := context.Cause(run); cause != nil && errors.Is(cause, schemas.ErrFatal) {
		return 1, fmt.Errorf("pipeline: %w", cause)
	}
	if lines := fileHints(args); code != 0 && err == nil && len(lines) > 0 {
		err = errors.New(strings.Join(lines, "\n"))
	}
	return code, err
}
