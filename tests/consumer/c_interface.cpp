/* A user's program of the C interface. It is valid C99 and C++. */
#include <mezzo/c/mezzo.h>
#include <stdio.h>
#include <string.h>

int main(void) {
  mezzo_model* model = NULL;
  const mezzo_status status = mezzo_load("missing.mezzo", NULL, &model);
  printf("mezzo %s: %s\n", mezzo_version(), mezzo_last_error());
  return status == MEZZO_ERROR_FILE && model == NULL && strstr(mezzo_last_error(), "missing.mezzo") != NULL ? 0 : 1;
}
