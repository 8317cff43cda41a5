package sealed

import (
	"strconv"
	"strings"

	"github.com/recountdb/recount/schemas"
)

// ShardDir returns the name of a partition's folder, "topic-partition" as in Kafka.
func ShardDir(tp schemas.TopicPartition) string {
	return tp.Topic + "-" + strconv.Itoa(int(tp.Partition))
}

// ParseShardDir returns the partition whose ShardDir is name; false if there is none.
func ParseShardDir(name string) (schemas.TopicPartition, bool) {
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
