package pipeline

import (
	"cmp"
	"crypto/tls"
	"crypto/x509"
	"errors"
	"fmt"
	"log/slog"
	"net"
	"os"
	"strings"
	"time"

	"github.com/recountdb/recount/pipeline/broker"
	"github.com/recountdb/recount/pipeline/broker/storage"
)

// These are the defaults of Config.
const (
	DefaultPrefix        = "recount."
	DefaultPartitions    = 4
	DefaultMaxEventBytes = 4 << 20
	DefaultAppendTimeout = 30 * time.Second
)

// minEventBytes is the smallest MaxEventBytes: a rejected event with its reason and headers must
// fit.
const minEventBytes = 128 << 10

// maxPartitions limits the number of partitions of a topic that Recount creates or grows.
const maxPartitions = 1024

// LogDir is the embedded broker's directory below the data directory.
const LogDir = "log"

// Config describes the log to open.
type Config struct {
	// DataDir is the data directory; the embedded broker stores in its directory "log". It is
	// required unless Brokers is set.
	DataDir string
	// Brokers are the addresses (host:port) of an external Kafka. If empty, the embedded broker is
	// started.
	Brokers []string
	// Prefix starts the name of every topic. The default is DefaultPrefix.
	Prefix string
	// Partitions is the number of partitions of a topic when it is created; an existing topic is
	// not changed. The default is DefaultPartitions.
	Partitions int
	// ReplicationFactor applies to created topics. 0 means the default of the external Kafka; the
	// embedded broker has one replica.
	ReplicationFactor int

	// Listen is the TCP address of the embedded broker for other Kafka clients; ":0" picks a port.
	// "" means in memory only.
	Listen string
	// Advertise is the host:port that the embedded broker tells clients to connect to. The default
	// is the address it listens on.
	Advertise string
	// AutoCreateTopics lets TCP clients of the embedded broker create topics by naming them in
	// requests.
	AutoCreateTopics bool

	// Broker holds the embedded broker's other options: limits, hooks, TLS, and users besides that
	// of SASL. Where a field of Config exists for the same setting (addresses, partitions, sizes,
	// logger), that field takes precedence.
	Broker broker.Options

	// SASL is the authentication to external brokers. With the embedded broker it is what TCP
	// clients must present; this process connects in memory without it.
	SASL SASL
	// TLS applies to connections to external brokers.
	TLS TLS

	// MaxEventBytes limits the size of one event with its headers, and is the limit of created
	// topics. The default is DefaultMaxEventBytes.
	MaxEventBytes int
	// AppendTimeout limits an Append whose context has a later deadline. The default is
	// DefaultAppendTimeout.
	AppendTimeout time.Duration
	// ClientID is the client's name in requests to brokers. The default is "recount".
	ClientID string
	// Logger receives warnings and errors. The default discards them.
	Logger *slog.Logger
}

// SASL is an authentication. The zero value means none.
type SASL struct {
	// Mechanism is PLAIN, SCRAM-SHA-256 or SCRAM-SHA-512; "" means none.
	Mechanism string
	User      string
	Password  string
}

// TLS configures TLS connections to external brokers.
type TLS struct {
	Enabled bool
	// CAFile holds the trusted authorities in PEM. The default is the system's.
	CAFile string
	// CertFile and KeyFile are the client's certificate, in PEM.
	CertFile, KeyFile string
	// ServerName overrides the name that the broker's certificate must carry.
	ServerName string
}

// withDefaults returns the configuration with zero fields set to their defaults.
func (c Config) withDefaults() Config {
	c.Prefix = cmp.Or(c.Prefix, DefaultPrefix)
	c.Partitions = cmp.Or(c.Partitions, DefaultPartitions)
	c.MaxEventBytes = cmp.Or(c.MaxEventBytes, DefaultMaxEventBytes)
	c.AppendTimeout = cmp.Or(c.AppendTimeout, DefaultAppendTimeout)
	c.ClientID = cmp.Or(c.ClientID, "recount")
	if c.Logger == nil {
		c.Logger = slog.New(slog.DiscardHandler)
	}
	return c
}

// Validate returns an error that names every field with an invalid value.
func (c Config) Validate() error {
	c = c.withDefaults()
	var errs []error
	bad := func(field string, value any, want string) {
		errs = append(errs, fmt.Errorf("%s: %v: want %s", field, value, want))
	}
	if c.DataDir == "" && len(c.Brokers) == 0 {
		bad("data_dir", `""`, "a directory, or brokers of an external Kafka")
	}
	for _, b := range c.Brokers {
		if host, _, err := net.SplitHostPort(b); err != nil || host == "" {
			bad("brokers", fmt.Sprintf("%q", b), "host:port")
		}
	}
	if len(c.Prefix) > 200 || !storage.ValidTopicName(c.Prefix) {
		bad("prefix", fmt.Sprintf("%q", c.Prefix), "letters, digits, '.', '_' and '-'")
	}
	if c.Partitions < 1 || c.Partitions > maxPartitions {
		bad("partitions", c.Partitions, fmt.Sprintf("1 to %d", maxPartitions))
	}
	if c.ReplicationFactor < 0 || c.ReplicationFactor > 32 {
		bad("replication_factor", c.ReplicationFactor, "0 to 32")
	}
	if c.MaxEventBytes < minEventBytes || c.MaxEventBytes > 64<<20 {
		bad("max_event_bytes", c.MaxEventBytes, fmt.Sprintf("%d to %d", minEventBytes, 64<<20))
	}
	if c.AppendTimeout < 0 {
		bad("append_timeout", c.AppendTimeout, "more than 0")
	}
	for _, a := range [][2]string{{"listen", c.Listen}, {"advertise", c.Advertise}} {
		field, addr := a[0], a[1]
		if addr == "" {
			continue
		}
		if len(c.Brokers) > 0 {
			bad(field, fmt.Sprintf("%q", addr), "none with brokers of an external Kafka")
		} else if _, _, err := net.SplitHostPort(addr); err != nil {
			bad(field, fmt.Sprintf("%q", addr), "host:port")
		}
	}
	switch strings.ToUpper(c.SASL.Mechanism) {
	case "":
		if c.SASL.User != "" || c.SASL.Password != "" {
			bad("sasl.mechanism", `""`, "PLAIN, SCRAM-SHA-256 or SCRAM-SHA-512 if a user is given")
		}
	case "PLAIN", "SCRAM-SHA-256", "SCRAM-SHA-512":
		if c.SASL.User == "" || c.SASL.Password == "" {
			bad("sasl.user", fmt.Sprintf("%q", c.SASL.User), "a user and a password")
		}
	default:
		bad("sasl.mechanism", fmt.Sprintf("%q", c.SASL.Mechanism), "PLAIN, SCRAM-SHA-256 or SCRAM-SHA-512")
	}
	if (c.TLS.CertFile == "") != (c.TLS.KeyFile == "") {
		bad("tls.cert_file", fmt.Sprintf("%q", c.TLS.CertFile), "both cert_file and key_file, or neither")
	}
	if c.TLS.Enabled && len(c.Brokers) == 0 {
		bad("tls.enabled", true, "false with the embedded broker: Broker.TLS serves TLS")
	}
	return errors.Join(errs...)
}

// config reads the files and returns the TLS configuration, nil if TLS is disabled.
func (t TLS) config() (*tls.Config, error) {
	if !t.Enabled {
		return nil, nil
	}
	cfg := &tls.Config{MinVersion: tls.VersionTLS12, ServerName: t.ServerName}
	if t.CAFile != "" {
		pem, err := os.ReadFile(t.CAFile)
		if err != nil {
			return nil, fmt.Errorf("tls.ca_file: %w", err)
		}
		cfg.RootCAs = x509.NewCertPool()
		if !cfg.RootCAs.AppendCertsFromPEM(pem) {
			return nil, fmt.Errorf("tls.ca_file: %s: holds no certificate in PEM", t.CAFile)
		}
	}
	if t.CertFile != "" {
		cert, err := tls.LoadX509KeyPair(t.CertFile, t.KeyFile)
		if err != nil {
			return nil, fmt.Errorf("tls.cert_file: %w", err)
		}
		cfg.Certificates = []tls.Certificate{cert}
	}
	return cfg, nil
}
