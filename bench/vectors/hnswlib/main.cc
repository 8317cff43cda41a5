// The other side of bench/vectors: builds an hnswlib index from a file and times
// the same searches. hnswlib itself is not part of this repository; see main.go
// for how to get it.
//
//   g++ -O3 -march=native -std=c++17 -I DIR bench/vectors/hnswlib/main.cc -o hnswlib
//   hnswlib FILE M EFCONSTRUCTION K
//
// FILE: rows, queries, dim as uint32, then rows × dim and queries × dim float32,
// all little-endian. Prints the CPU seconds of the build and the bytes of its
// memory for each row; then, for each line on stdin, an ef, makes all searches and
// prints p50 and p99 in nanoseconds, and the labels found, query by query.
#include <algorithm>
#include <chrono>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <ctime>
#include <iostream>
#include <string>
#include <vector>

#include "hnswlib/hnswlib.h"

int main(int argc, char** argv) {
  if (argc != 5) return 2;
  FILE* f = fopen(argv[1], "rb");
  uint32_t head[3];
  if (!f || fread(head, 4, 3, f) != 3) return 3;
  const size_t n = head[0], queries = head[1], dim = head[2];
  std::vector<float> data((n + queries) * dim);
  if (fread(data.data(), 4, data.size(), f) != data.size()) return 3;
  fclose(f);
  const int m = atoi(argv[2]), ef_construction = atoi(argv[3]), k = atoi(argv[4]);

  hnswlib::InnerProductSpace space(dim);
  const clock_t begin = clock();
  hnswlib::HierarchicalNSW<float> index(&space, n, m, ef_construction);
  for (size_t i = 0; i < n; i++) index.addPoint(&data[i * dim], i);
  std::cout << double(clock() - begin) / CLOCKS_PER_SEC << " " << index.size_data_per_element_ << std::endl;

  std::string line;
  while (std::getline(std::cin, line)) {
    index.setEf(std::stoi(line));
    std::vector<int64_t> times;
    std::vector<std::vector<size_t>> found;
    for (size_t q = 0; q < queries; q++) {
      const auto start = std::chrono::steady_clock::now();
      auto result = index.searchKnn(&data[(n + q) * dim], k);
      times.push_back((std::chrono::steady_clock::now() - start).count());
      std::vector<size_t> labels;
      for (; !result.empty(); result.pop()) labels.push_back(result.top().second);
      found.push_back(labels);
    }
    std::sort(times.begin(), times.end());
    std::cout << times[times.size() / 2] << " " << times[times.size() * 99 / 100];
    for (auto& labels : found)
      for (size_t label : labels) std::cout << " " << label;
    std::cout << std::endl;
  }
}
