package node_test

import (
	"crypto/ecdsa"
	"crypto/elliptic"
	"crypto/rand"
	"crypto/tls"
	"crypto/x509"
	"encoding/pem"
	"errors"
	"math/big"
	"net"
	"net/http"
	"os"
	"path/filepath"
	"testing"
	"time"

	"github.com/recountdb/recount/query/commands"
	"github.com/recountdb/recount/server/api"
	"github.com/recountdb/recount/server/httpapi"
	"github.com/recountdb/recount/server/node"
)

// TestSplitRoles runs the roles in three processes: the log, the processors, the projections.
func TestSplitRoles(t *testing.T) {
	front := config(t.TempDir())
	front.Roles = []string{node.RoleLog, node.RoleIngest}
	a := start(t, front)
	brokers := node.KafkaConfig{Brokers: []string{a.KafkaAddr()}}

	middle := config(t.TempDir())
	middle.Roles, middle.Kafka = []string{node.RoleProcess}, brokers
	start(t, middle)

	back := config(t.TempDir())
	back.Roles, back.Kafka = []string{node.RoleProject, node.RoleServe}, brokers
	c := start(t, back)

	a.append(t, many(50)...)
	resp := c.find(t, commands.FindRequest{Text: "pods web49", WaitMS: 20_000})
	if len(resp.Hits) == 0 || resp.Hits[0].Command != many(50)[49] {
		t.Errorf("got %v", commandsOf(resp))
	}
	for name, err := range map[string]error{
		"find where nothing is served": func() error {
			_, err := commands.FindQuestion.Ask(t.Context(), a.Client, commands.FindRequest{})
			return err
		}(),
		"append where nothing is taken": func() error {
			_, err := c.Client.Append(t.Context(), events("ls"))
			return err
		}(),
		"rebuild where nothing is projected": func() error {
			_, err := a.Client.Rebuild(t.Context(), api.RebuildRequest{}, nil)
			return err
		}(),
	} {
		if !errors.Is(err, api.ErrUnavailable) {
			t.Errorf("%s: %v", name, err)
		}
	}
	if v, err := c.Client.Verify(t.Context(), api.VerifyRequest{}, nil); err != nil || !v.OK {
		t.Errorf("verify: %+v %v", v, err)
	}
}

func TestTokenAndTLS(t *testing.T) {
	dir := t.TempDir()
	cert, key, pool := selfSigned(t)
	tokenFile := filepath.Join(dir, "token")
	if err := os.WriteFile(tokenFile, []byte(operatorToken+"\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	cfg := config(dir)
	cfg.HTTP.TokenFile, cfg.HTTP.CertFile, cfg.HTTP.KeyFile = tokenFile, cert, key
	r := start(t, cfg)
	e := waitEndpoints(t, dir)
	if !e.TokenNeeded || e.TokenFile != tokenFile {
		t.Errorf("endpoints %+v", e)
	}
	hc := &http.Client{Transport: &http.Transport{TLSClientConfig: &tls.Config{RootCAs: pool}}}
	c, err := httpapi.NewClient(e.HTTP, operatorToken, hc)
	if err != nil {
		t.Fatal(err)
	}
	if _, err := c.Status(t.Context(), api.StatusRequest{}); err != nil {
		t.Errorf("with the token: %v", err)
	}
	c, _ = httpapi.NewClient(r.Endpoints().HTTP, "wrong", hc)
	var ae *httpapi.APIError
	if _, err := c.Status(t.Context(), api.StatusRequest{}); !errors.As(err, &ae) || ae.Status != 401 {
		t.Errorf("with another: %v", err)
	}
}

func selfSigned(t *testing.T) (certFile, keyFile string, pool *x509.CertPool) {
	t.Helper()
	key, err := ecdsa.GenerateKey(elliptic.P256(), rand.Reader)
	if err != nil {
		t.Fatal(err)
	}
	template := &x509.Certificate{
		SerialNumber: big.NewInt(1), NotBefore: time.Now().Add(-time.Hour), NotAfter: time.Now().Add(time.Hour),
		IPAddresses: []net.IP{net.IPv4(127, 0, 0, 1)}, IsCA: true, BasicConstraintsValid: true,
	}
	der, err := x509.CreateCertificate(rand.Reader, template, template, &key.PublicKey, key)
	if err != nil {
		t.Fatal(err)
	}
	keyDER, err := x509.MarshalECPrivateKey(key)
	if err != nil {
		t.Fatal(err)
	}
	dir := t.TempDir()
	certFile, keyFile = filepath.Join(dir, "cert.pem"), filepath.Join(dir, "key.pem")
	certPEM := pem.EncodeToMemory(&pem.Block{Type: "CERTIFICATE", Bytes: der})
	for path, b := range map[string][]byte{certFile: certPEM, keyFile: pem.EncodeToMemory(&pem.Block{Type: "EC PRIVATE KEY", Bytes: keyDER})} {
		if err := os.WriteFile(path, b, 0o600); err != nil {
			t.Fatal(err)
		}
	}
	pool = x509.NewCertPool()
	pool.AppendCertsFromPEM(certPEM)
	return certFile, keyFile, pool
}

// TestStatusOfANodeThatOnlyAppends checks that a node without projections reports the state of its
// log.
func TestStatusOfANodeThatOnlyAppends(t *testing.T) {
	cfg := config(t.TempDir())
	cfg.Roles = []string{node.RoleLog, node.RoleIngest}
	n, err := node.OpenLocal(t.Context(), cfg, nil)
	if err != nil {
		t.Fatal(err)
	}
	defer n.Close()
	st, err := n.Status(t.Context(), api.StatusRequest{})
	if err != nil || st.DataID == "" || len(st.Projections) != 0 || len(st.Log.Ends) == 0 {
		t.Errorf("got %+v, %v", st, err)
	}
}
