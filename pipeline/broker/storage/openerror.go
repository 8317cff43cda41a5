package storage

import (
	"errors"
	"fmt"
	"io/fs"
	"regexp"
	"strings"
	"syscall"

	"github.com/cockroachdb/pebble/v2"
)

// openError explains in one line why a log does not open: what is wrong, with which file, and what
// to do.
type openError struct {
	text  string
	cause error
}

func (e *openError) Error() string { return e.text }
func (e *openError) Unwrap() error { return e.cause }

const (
	fixDamage = "keep the directory unchanged, and restore it from a backup"
	fixSpace  = "the disk is full: free some space, then start again; what the log holds is whole"
	fixRights = "check the owner and mode of everything in the directory, give this user permission, then start again"
	fixFiles  = "raise the limit of open files (ulimit -n), then start again"
)

// ExplainOpen converts an error of opening to one line that says what to do. Errors that are about
// neither the disk nor its contents are returned unchanged.
func ExplainOpen(err error) error {
	fix := ""
	switch {
	case errors.Is(err, ErrLoss), errors.Is(err, ErrLocked), errors.Is(err, ErrNewerFormat):
		// These errors say themselves what to do.
	case isFull(err):
		fix = fixSpace
	case errors.Is(err, fs.ErrPermission), isReadOnly(err):
		fix = fixRights
	case errors.Is(err, syscall.EMFILE), errors.Is(err, syscall.ENFILE):
		fix = fixFiles
	case errors.Is(err, ErrDamaged), errors.Is(err, syscall.EIO):
		fix = fixDamage
	case pebble.IsCorruptionError(err), errors.Is(err, errBlob):
		err, fix = fmt.Errorf("%w: %w", ErrDamaged, err), fixDamage
	}
	text := strings.Join(strings.Fields(err.Error()), " ")
	if fix != "" {
		text += "; " + fix
	}
	return &openError{text, err}
}

// explainStore is the part of ExplainOpen for errors of Pebble: an error that is not one of the
// system means damage. reading is the file that was opened last, for errors that name no file of
// dir.
func explainStore(err error, dir, reading string) error {
	if strings.Contains(err.Error(), dir) {
		reading = ""
	}
	var errno syscall.Errno
	missing := errors.Is(err, fs.ErrNotExist)
	if system := errors.As(err, &errno) && !missing; system || errors.Is(err, fs.ErrPermission) {
		return nameFile(err, reading)
	}
	if errors.Is(err, ErrDamaged) {
		return err
	}
	if m := tableNumber.FindStringSubmatch(err.Error()); m != nil && !strings.Contains(err.Error(), ".sst") {
		reading = "table " + m[1] + ".sst"
	}
	return fmt.Errorf("%w: %w", ErrDamaged, nameFile(err, reading))
}

// tableNumber matches how Pebble names a missing table.
var tableNumber = regexp.MustCompile(`L\d+: (\d{6,}): `)

func nameFile(err error, name string) error {
	if name == "" {
		return err
	}
	return fmt.Errorf("%s: %w", name, err)
}

// Unreadable reports whether an error of reading will not go away by itself: damage, or a file that is
// missing or may not be read.
func Unreadable(err error) bool {
	return errors.Is(err, ErrDamaged) || errors.Is(err, errBlob) || pebble.IsCorruptionError(err) ||
		errors.Is(err, fs.ErrNotExist) || errors.Is(err, fs.ErrPermission)
}
