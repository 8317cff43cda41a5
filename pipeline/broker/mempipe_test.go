package broker

import (
	"bytes"
	"errors"
	"io"
	"math/rand/v2"
	"net"
	"os"
	"syscall"
	"testing"
	"time"
)

func TestMemPipeCarries(t *testing.T) {
	client, server := memPipe()
	want := make([]byte, 9<<20) // more than it holds at a time
	rng := rand.NewChaCha8([32]byte{})
	rng.Read(want)
	go func() {
		for rest := want; len(rest) > 0; {
			n := min(len(rest), 1+rand.IntN(300_000))
			if _, err := client.Write(rest[:n]); err != nil {
				t.Error(err)
			}
			rest = rest[n:]
		}
		client.Close()
	}()
	var got bytes.Buffer
	buf := make([]byte, 200_000)
	for {
		n, err := server.Read(buf[:1+rand.IntN(len(buf)-1)])
		got.Write(buf[:n])
		if err == io.EOF {
			break
		}
		if err != nil {
			t.Fatal(err)
		}
	}
	if !bytes.Equal(got.Bytes(), want) {
		t.Errorf("%d bytes came, %d were sent, or they differ", got.Len(), len(want))
	}
}

func TestMemPipeEnds(t *testing.T) {
	soon := 10 * time.Millisecond
	for _, tc := range []struct {
		name string
		do   func(a, b net.Conn) error
		want error
	}{
		{"read with a deadline passed", func(a, _ net.Conn) error {
			a.SetReadDeadline(time.Now().Add(-time.Second))
			_, err := a.Read(make([]byte, 1))
			return err
		}, os.ErrDeadlineExceeded},
		{"read until the deadline", func(a, _ net.Conn) error {
			a.SetReadDeadline(time.Now().Add(soon))
			_, err := a.Read(make([]byte, 1))
			return err
		}, os.ErrDeadlineExceeded},
		{"write until the deadline", func(a, _ net.Conn) error {
			a.SetWriteDeadline(time.Now().Add(soon))
			_, err := a.Write(make([]byte, halfPipeSize+1))
			return err
		}, os.ErrDeadlineExceeded},
		{"the deadline is set while reading", func(a, _ net.Conn) error {
			time.AfterFunc(soon, func() { a.SetDeadline(time.Unix(1, 0)) })
			_, err := a.Read(make([]byte, 1))
			return err
		}, os.ErrDeadlineExceeded},
		{"the other side closes while reading", func(a, b net.Conn) error {
			time.AfterFunc(soon, func() { b.Close() })
			_, err := a.Read(make([]byte, 1))
			return err
		}, io.EOF},
		{"the other side closes while writing", func(a, b net.Conn) error {
			time.AfterFunc(soon, func() { b.Close() })
			_, err := a.Write(make([]byte, halfPipeSize+1))
			return err
		}, syscall.EPIPE},
		{"closed while reading", func(a, _ net.Conn) error {
			time.AfterFunc(soon, func() { a.Close() })
			_, err := a.Read(make([]byte, 1))
			return err
		}, net.ErrClosed},
		{"write when closed", func(a, _ net.Conn) error {
			a.Close()
			_, err := a.Write([]byte{1})
			return err
		}, net.ErrClosed},
		{"what was written before the close is read", func(a, b net.Conn) error {
			b.Write([]byte("last"))
			b.Close()
			buf := make([]byte, 10)
			if n, err := a.Read(buf); err != nil || string(buf[:n]) != "last" {
				return errors.New("the last words are lost")
			}
			_, err := a.Read(buf)
			return err
		}, io.EOF},
		{"a deadline taken back", func(a, b net.Conn) error {
			a.SetReadDeadline(time.Now().Add(-time.Second))
			a.SetReadDeadline(time.Time{})
			b.Write([]byte{1})
			_, err := a.Read(make([]byte, 1))
			return err
		}, nil},
	} {
		a, b := memPipe()
		if err := tc.do(a, b); !errors.Is(err, tc.want) {
			t.Errorf("%s: %v, want %v", tc.name, err, tc.want)
		}
		a.Close()
		b.Close()
	}
}
