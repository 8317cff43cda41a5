package sandbox

import (
	"encoding/json"
	"fmt"
	"io"

	"golang.org/x/sys/unix"
)

// socket is one end of a pair that passes whole messages and files.
type socket int

// socketPair makes both ends. Neither is inherited unless it is asked for.
func socketPair() (a, b socket, err error) {
	fds, err := unix.Socketpair(unix.AF_UNIX, unix.SOCK_SEQPACKET|unix.SOCK_CLOEXEC, 0)
	if err != nil {
		return -1, -1, fmt.Errorf("sandbox: make a socket: %w", err)
	}
	return socket(fds[0]), socket(fds[1]), nil
}

func (s socket) send(v any, files ...int) error {
	b, err := json.Marshal(v)
	if err != nil {
		return err
	}
	var rights []byte
	if len(files) > 0 {
		rights = unix.UnixRights(files...)
	}
	for {
		err = unix.Sendmsg(int(s), b, rights, nil, unix.MSG_NOSIGNAL)
		if err != unix.EINTR {
			return err
		}
	}
}

// receive waits for a message. The error is io.EOF if the other end is closed.
func (s socket) receive(v any) (files []int, err error) {
	b, oob := make([]byte, 256<<10), make([]byte, unix.CmsgSpace(4*4))
	var n, oobn int
	for {
		n, oobn, _, _, err = unix.Recvmsg(int(s), b, oob, unix.MSG_CMSG_CLOEXEC)
		if err != unix.EINTR {
			break
		}
	}
	if err == unix.ECONNRESET || err == nil && n == 0 {
		return nil, io.EOF
	}
	if err != nil {
		return nil, err
	}
	messages, err := unix.ParseSocketControlMessage(oob[:oobn])
	if err != nil {
		return nil, err
	}
	for _, m := range messages {
		got, err := unix.ParseUnixRights(&m)
		if err != nil {
			return nil, err
		}
		files = append(files, got...)
	}
	return files, json.Unmarshal(b[:n], v)
}

// close wakes a receive that waits, and closes.
func (s socket) close() {
	_ = unix.Shutdown(int(s), unix.SHUT_RDWR)
	_ = unix.Close(int(s))
}
