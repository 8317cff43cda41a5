package sasl

import (
	"bytes"
	"crypto/hmac"
	"crypto/rand"
	"encoding/base64"
	"errors"
	"fmt"
	"hash"
	"strings"

	"github.com/xdg-go/scram"
)

// scramServer is the server's side of one SCRAM exchange: RFC 5802 without channel binding. The
// library that derives the keys has a server too, but that one compares the client's last nonce for
// equality. librdkafka before 2.6.1, and so Debian's kcat, prepends its own nonce once more; Apache
// Kafka compares only the end, and so do we. The server's part of the nonce, which protects against
// replay, is compared either way.
type scramServer struct {
	hash func() hash.Hash
	keys func(user string) scram.StoredCredentials

	user        string
	stored      scram.StoredCredentials
	nonce       string // the client's and the server's parts
	gs2         string // head of the client's first message, repeated in its last
	clientFirst string // the rest of that message
	serverFirst string // "" before the first message
}

// step takes the client's next message. done is set with the answer to a valid proof.
func (s *scramServer) step(msg string) (answer string, done bool, err error) {
	if s.serverFirst == "" {
		answer, err = s.first(msg)
		return answer, false, err
	}
	answer, err = s.final(msg)
	return answer, err == nil, err
}

// first parses "n,,n=user,r=nonce" and answers "r=…,s=salt,i=iterations".
func (s *scramServer) first(msg string) (string, error) {
	parts := strings.SplitN(msg, ",", 3)
	if len(parts) != 3 {
		return "", errors.New("the first message has fewer than three parts")
	}
	if parts[0] != "n" && parts[0] != "y" {
		return "", errors.New("channel binding is not supported")
	}
	s.gs2 = parts[0] + "," + parts[1] + ","
	s.clientFirst = parts[2]
	fields := strings.Split(s.clientFirst, ",")
	user, ok := strings.CutPrefix(fields[0], "n=")
	if !ok || len(fields) < 2 {
		return "", errors.New("the first message names no user")
	}
	var err error
	if s.user, err = decodeScramName(user); err != nil {
		return "", err
	}
	if authz, ok := strings.CutPrefix(parts[1], "a="); parts[1] != "" && (!ok || authz != user) {
		return "", errors.New("acting for another user is not supported")
	}
	nonce, ok := strings.CutPrefix(fields[1], "r=")
	if !ok || nonce == "" {
		return "", errors.New("the first message has no nonce")
	}
	s.nonce = nonce + rand.Text()
	s.stored = s.keys(s.user)
	s.serverFirst = fmt.Sprintf("r=%s,s=%s,i=%d", s.nonce, base64.StdEncoding.EncodeToString([]byte(s.stored.Salt)), s.stored.Iters)
	return s.serverFirst, nil
}

// final parses "c=…,r=nonce,p=proof" and answers "v=signature".
func (s *scramServer) final(msg string) (string, error) {
	at := strings.LastIndex(msg, ",p=")
	if at < 0 {
		return "", errors.New("the last message has no proof")
	}
	proof, err := base64.StdEncoding.DecodeString(msg[at+len(",p="):])
	if err != nil || len(proof) != len(s.stored.StoredKey) {
		return "", errors.New("the proof is not a hash in base 64")
	}
	fields := strings.Split(msg[:at], ",")
	if len(fields) < 2 || fields[0] != "c="+base64.StdEncoding.EncodeToString([]byte(s.gs2)) {
		return "", errors.New("channel binding differs from the first message")
	}
	if nonce, ok := strings.CutPrefix(fields[1], "r="); !ok || !strings.HasSuffix(nonce, s.nonce) {
		return "", errors.New("the nonce is not the server's")
	}

	auth := []byte(s.clientFirst + "," + s.serverFirst + "," + msg[:at])
	clientKey := s.mac(s.stored.StoredKey, auth)
	for i := range clientKey {
		clientKey[i] ^= proof[i]
	}
	h := s.hash()
	h.Write(clientKey)
	if !hmac.Equal(h.Sum(nil), s.stored.StoredKey) {
		return "", ErrAuth
	}
	return "v=" + base64.StdEncoding.EncodeToString(s.mac(s.stored.ServerKey, auth)), nil
}

func (s *scramServer) mac(key, msg []byte) []byte {
	m := hmac.New(s.hash, key)
	m.Write(msg)
	return m.Sum(nil)
}

// decodeScramName decodes SCRAM's escapes of comma and equals sign.
func decodeScramName(s string) (string, error) {
	var b bytes.Buffer
	for len(s) > 0 {
		switch {
		case strings.HasPrefix(s, "=2C"):
			b.WriteByte(',')
			s = s[3:]
		case strings.HasPrefix(s, "=3D"):
			b.WriteByte('=')
			s = s[3:]
		case s[0] == '=':
			return "", errors.New("the user's name is not escaped correctly: want =2C for a comma and =3D for =")
		default:
			b.WriteByte(s[0])
			s = s[1:]
		}
	}
	return b.String(), nil
}
