package pipeline

import (
	"errors"
	"log/slog"
	"os"
	"path/filepath"
	"strings"

	"github.com/recountdb/recount/pipeline/broker"
	"github.com/recountdb/recount/schemas"
)

// openEmbedded starts the embedded broker.
func openEmbedded(cfg Config) (*broker.Broker, error) {
	dir := filepath.Join(cfg.DataDir, LogDir)
	if err := os.MkdirAll(dir, 0o700); err != nil {
		return nil, err
	}
	opts := cfg.Broker
	if cfg.Listen != "" {
		opts.Listen = []string{cfg.Listen}
	}
	opts.AdvertisedAddr = cfg.Advertise
	opts.AutoCreateTopics = cfg.AutoCreateTopics
	for _, t := range schemas.Topics() {
		opts.FixedPartitions = append(opts.FixedPartitions, cfg.Prefix+t)
	}
	opts.DefaultPartitions = cfg.Partitions
	opts.MaxBatchBytes = cfg.MaxEventBytes + batchOverhead
	opts.Logger = slog.New(LimitRepeats(cfg.Logger.Handler()))
	if cfg.SASL.Mechanism != "" {
		credential, err := broker.NewCredential(cfg.SASL.Password)
		if err != nil {
			return nil, err
		}
		opts.SASL.Users = map[string]broker.Credential{cfg.SASL.User: credential}
		opts.SASL.Mechanisms = []string{strings.ToUpper(cfg.SASL.Mechanism)}
	}
	b, err := broker.Open(dir, opts)
	for _, known := range []error{broker.ErrLocked, broker.ErrNewerFormat, broker.ErrLoss, broker.ErrDamaged} {
		if errors.Is(err, known) {
			return nil, schemas.Fatalf("%w", err)
		}
	}
	return b, err
}
