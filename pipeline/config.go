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
	"regexp"
	"strings"
	"time"

	"github.com/recountdb/recount/pipeline/broker"
)

// Defaults of Config.
const (
	DefaultPrefix        = "recount."
	DefaultPartitions    = 4
	DefaultMaxEventBytes = 4 << 20
	DefaultAppendTimeout = 30 * time.Second
)

// minEventBytes leaves room for a rejected event with its reason and headers.
const minEventBytes = 128 << 10

// maxPartitions bounds the partitions of a topic that Recount makes or grows.
const maxPartitions = 1024

// LogDir is the embedded broker's folder under the data directory.
const LogDir = "log"

// Config says which log to open.
type Config struct {
	// DataDir is the data directory; the embedded broker stores in its folder
	// "log". Required unless Brokers is set.
	DataDir string
	// Brokers are the addresses (host:port) of an outside Kafka. None: the
	// embedded broker.
	Brokers []string
	// Prefix starts the name of every topic. Default DefaultPrefix.
	Prefix string
	// Partitions is how many a topic gets when it is created; an existing topic
	// keeps what it has. Default DefaultPartitions.
	Partitions int
	// ReplicationFactor of created topics. 0: what the outside Kafka is
	// configured to; the embedded broker has one replica.
	ReplicationFactor int

	// Listen is the TCP address of the embedded broker, so that other Kafka
	// clients reach it; ":0" picks a port. "": in memory only.
	Listen string
	// Advertise is the host:port that the embedded broker tells clients to
	// connect to. Default: the address it listens on.
	Advertise string
	// AutoCreateTopics lets TCP clients of the embedded broker create topics by
	// asking for them.
	AutoCreateTopics bool

	// Broker holds the embedded broker's other options: its limits, its hooks, TLS,
	// who may log in besides SASL's user.
	// What the fields here say (addresses, partitions, sizes, logger) they say
	// for it, too.
	Broker broker.Options

	// SASL is how to authenticate; with the embedded broker, what its TCP
	// clients must present (this process reaches it in memory, without).
	SASL SASL
	// TLS to outside brokers.
	TLS TLS

	// MaxEventBytes bounds one event with its headers, and is the limit that
	// topics are created with. Default DefaultMaxEventBytes.
	MaxEventBytes int
	// AppendTimeout bounds an Append whose context ends later. Default
	// DefaultAppendTimeout.
	AppendTimeout time.Duration
	// ClientID is the name given to brokers. Default "recount".
	ClientID string
	// Logger is told about trouble. Default: nowhere.
	Logger *slog.Logger
}

// SASL is an authentication; the zero value is none.
type SASL struct {
	// Mechanism is PLAIN, SCRAM-SHA-256 or SCRAM-SHA-512; "" is none.
	Mechanism string
	User      string
	Password  string
}

// TLS says how to reach outside brokers by TLS.
type TLS struct {
	Enabled bool
	// CAFile holds the authorities to trust, in PEM. Default: the system's.
	CAFile string
	// CertFile and KeyFile are the client's certificate, in PEM.
	CertFile, KeyFile string
	// ServerName overrides the name that the broker's certificate must carry.
	ServerName string
}

// topicName is what Kafka allows.
var topicName = regexp.MustCompile(`^[a-zA-Z0-9._-]{1,200}$`)

// withDefaults fills in what was left zero.
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

// Validate reports every field whose value cannot work, by name.
func (c Config) Validate() error {
	c = c.withDefaults()
	var errs []error
	bad := func(field string, value any, want string) {
		errs = append(errs, fmt.Errorf("%s: %v: want %s", field, value, want))
	}
	if c.DataDir == "" && len(c.Brokers) == 0 {
		bad("data_dir", `""`, "a directory, or brokers of an outside Kafka")
	}
	for _, b := range c.Brokers {
		if host, _, err := net.SplitHostPort(b); err != nil || host == "" {
			bad("brokers", fmt.Sprintf("%q", b), "host:port")
		}
	}
	if !topicName.MatchString(c.Prefix) {
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
			bad(field, fmt.Sprintf("%q", addr), "none with brokers of an outside Kafka")
		} else if _, _, err := net.SplitHostPort(addr); err != nil {
			bad(field, fmt.Sprintf("%q", addr), "host:port")
		}
	}
	switch strings.ToUpper(c.SASL.Mechanism) {
	case "":
		if c.SASL.User != "" || c.SASL.Password != "" {
			bad("sasl.mechanism", `""`, "PLAIN, SCRAM-SHA-256 or SCRAM-SHA-512 where a user is given")
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

// config reads the files and builds the TLS configuration; nil where disabled.
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
