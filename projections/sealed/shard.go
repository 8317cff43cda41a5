package sealed

import (
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"strconv"
	"strings"

	"github.com/recountdb/recount/schemas"
)

// ShardDir returns the name of a partition's folder, "topic-partition" as in Kafka.
func ShardDir(tp schemas.TopicPartition) string {
	return tp.Topic + "-" + strconv.Itoa(int(tp.Partition))
}

// Shards returns the partitions that have a folder in a directory.
func Shards(dir string) (all []schemas.TopicPartition, err error) {
	entries, err := os.ReadDir(dir)
	for _, e := range entries {
		if tp, ok := parseShardDir(e.Name()); ok && e.IsDir() {
			all = append(all, tp)
		}
	}
	return all, err
}

// parseShardDir returns the partition whose ShardDir is name; false if there is none.
func parseShardDir(name string) (schemas.TopicPartition, bool) {
	i := strings.LastIndexByte(name, '-')
	if i < 0 {
		return schemas.TopicPartition{}, false
	}
	n, err := strconv.ParseInt(name[i+1:], 10, 32)
	tp := schemas.TopicPartition{Topic: name[:i], Partition: int32(n)}
	return tp, err == nil && Valid(tp) && ShardDir(tp) == name
}

// Valid reports whether Kafka would allow the partition, and so whether it can have a folder.
func Valid(tp schemas.TopicPartition) bool {
	s := tp.Topic
	if s == "" || s == "." || s == ".." || len(s) > 249 || tp.Partition < 0 {
		return false
	}
	for _, r := range s {
		if (r < 'a' || r > 'z') && (r < 'A' || r > 'Z') && (r < '0' || r > '9') && r != '.' && r != '_' && r != '-' {
			return false
		}
	}
	return true
}

// Folder is the folder of a partition. It is created together with the first file in it. One
// goroutine at a time may use it.
type Folder struct {
	Dir  string
	Disk Disk
	Made bool // the folder exists
}

// Make creates the folder unless it exists.
func (f *Folder) Make() error {
	if f.Made {
		return nil
	}
	if err := f.Disk.MkdirAll(f.Dir); err != nil {
		return err
	}
	if err := f.Disk.SyncDir(filepath.Dir(f.Dir)); err != nil {
		return err
	}
	f.Made = true
	return nil
}

// Remove deletes a file of the folder, if there is one.
func (f *Folder) Remove(name string) error {
	if err := f.Disk.Remove(filepath.Join(f.Dir, name)); !errors.Is(err, fs.ErrNotExist) {
		return err
	}
	return nil
}
