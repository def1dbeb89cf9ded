// A program outside of the project: it sees what an installation has and nothing else.

#include <sapwood/version.h>

#include <iostream>

int main() {
  std::cout << "sapwood " << sapwood::kVersion << '\n';
  return 0;
}
