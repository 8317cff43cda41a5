package node

import (
	"crypto/tls"
	"errors"
	"fmt"
	"slices"

	"github.com/recountdb/recount/pipeline/broker"
	"github.com/recountdb/recount/schemas"
	"github.com/recountdb/recount/server/access"
)

// kafkaTopics lists the topics, without prefix, to which a token with the grant ingest may append
// over Kafka's protocol. Commits are not among them: such a token must not remove snapshots, which
// access.Own checks over HTTP, but the broker does not inspect what is appended.
var kafkaTopics = []string{schemas.TopicCommands, schemas.TopicSpans}

// kafkaOptions returns the authentication and TLS options of the embedded broker's listener.
func (n *Node) kafkaOptions() (broker.Options, error) {
	var o broker.Options
	if n.tokens != nil {
		o.SASL.Login = n.kafkaLogin
	}
	if k := n.cfg.Kafka; k.CertFile != "" {
		cert, err := tls.LoadX509KeyPair(k.CertFile, k.KeyFile)
		if err != nil {
			return o, fmt.Errorf("kafka.tls_cert (--kafka-tls-cert): %w", err)
		}
		o.TLS = &tls.Config{MinVersion: tls.VersionTLS12, Certificates: []tls.Certificate{cert}}
	}
	return o, nil
}

// errNoKafka is the error for a valid token that may be used over HTTP only.
var errNoKafka = errors.New("the token may not use Kafka's protocol, which cannot separate tenants and agents: use HTTP, or ask the operator for a token with the grant ingest")

// kafkaLogin authenticates a client of the broker by a token of the HTTP API.
func (n *Node) kafkaLogin(user, token string) (broker.Session, error) {
	session := func() (broker.Rights, error) {
		p, refusal := n.tokens.AuthenticateNamed(user, token)
		switch {
		case refusal != nil:
			return broker.Rights{}, errors.New(refusal.Why)
		case p.Operator:
			return broker.Rights{Everything: true}, nil
		case p.Ingests():
			return broker.Rights{Append: n.kafkaTopic}, nil
		}
		return broker.Rights{}, errNoKafka
	}
	if _, err := session(); err != nil {
		return nil, err
	}
	return session, nil
}

func (n *Node) kafkaTopic(topic string) bool {
	return slices.ContainsFunc(kafkaTopics, func(name string) bool { return topic == n.cfg.Kafka.Prefix+name })
}

// KafkaAccess describes in one line how clients authenticate at the embedded broker's listener; ""
// if there is no listener.
func (n *Node) KafkaAccess() string {
	if n.KafkaAddr() == "" {
		return ""
	}
	sasl := n.cfg.Kafka.SASL
	over := ""
	if n.cfg.Kafka.CertFile != "" {
		over = "TLS, "
	}
	switch {
	case n.tokens != nil && sasl.Mechanism != "":
		return fmt.Sprintf("%sSASL: %s as %s, or PLAIN with a token (%s's, or one granted ingest)", over, sasl.Mechanism, sasl.User, access.OperatorName)
	case n.tokens != nil:
		return fmt.Sprintf("%sSASL PLAIN: user %s, password the token; or a token granted ingest, to append", over, access.OperatorName)
	case sasl.Mechanism != "":
		return fmt.Sprintf("%sSASL: %s as %s", over, sasl.Mechanism, sasl.User)
	}
	return over + "open to every process of this machine: --token-file asks for a token here too, --kafka none turns it off"
}
