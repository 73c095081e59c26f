// The osler program.
int main() {
  return 0;
}
